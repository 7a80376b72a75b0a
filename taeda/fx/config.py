"""Settings of `fx`."""

# Do not warn of trace-time values that a graph holds as constants.
disable_progress = True
verbose_progress = False
