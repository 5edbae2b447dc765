"""One file per recorded format; ``audit/detect.py`` holds the table. Readers turn records into events, no more."""
