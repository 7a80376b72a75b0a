"""Signal processing: windows, so far."""

from taeda.signal import windows as windows
