"""``python -m taedagen --out FOLDER``: declarations in, C++ and tables out."""

from __future__ import annotations

import sys

from taedagen.emit.run import main

sys.exit(main())
