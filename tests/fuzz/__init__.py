"""Looks for crashes, hangs and unclear errors with random calls, files, faults and exits: ``make fuzz``.

A kind of case is a module here: ``make(number)`` describes case ``number`` and gives a function that runs it and
returns what is wrong, or None; ``prepare()`` is called once in each process; a case that takes longer than ``SECONDS``
hangs. A case depends on its number alone, so that a number is all that it takes to repeat it.
"""
