"""The numeric suite: where a quantised model departs from its float one."""
