"""`python -m duly.demo`."""

import typer

from .run import demo

if __name__ == "__main__":
    typer.run(demo)
