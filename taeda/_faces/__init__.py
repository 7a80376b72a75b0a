"""PyTorch's private names that programs import: ``taeda/__init__.py`` searches this folder too, so that
``_faces/_dynamo`` is ``taeda._dynamo``.

A face is thin: the code is elsewhere under a name of its own, and none of it imports a face.
"""

raise ImportError(
    "the modules in taeda/_faces have the names that PyTorch gives them: taeda._dynamo, not taeda._faces._dynamo"
)
