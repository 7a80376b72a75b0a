"""Helpers of tests of several processes; those not here are borrowed."""
