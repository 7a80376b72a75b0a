"""One training job on one process and on several, on this machine and on two, beside a model of what it costs."""
