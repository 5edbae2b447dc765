"""`python -m duly` is `duly`."""

from duly.cli.main import run

if __name__ == "__main__":
    run()
