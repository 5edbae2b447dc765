"""Classifiers that come with duly, as documents: data only, included as `duly:lenient` and `duly:strict`."""
