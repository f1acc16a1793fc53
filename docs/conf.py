"""The site: tools/docs builds it."""

import pathlib

import samebits

project = "solver"
author = "the authors of solver"
copyright = "2026, the authors of solver. Apache-2.0"
version = release = samebits.__version__
extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.mathjax", "sphinx_gallery.gen_gallery"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["raw", "gallery/README.rst"]
html_theme = "furo"
html_title = "solver"
html_extra_path = ["report.html", "report_h200.html"]
myst_heading_anchors = 4
suppress_warnings = ["config.cache"]
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
sphinx_gallery_conf = {
    "examples_dirs": ["gallery"],
    "gallery_dirs": ["auto_gallery"],
    "filename_pattern": "plot_",
    "download_all_examples": False,
    "show_memory": False,
}


def read_front_page(app, docname, source):
    """What is the front page in the repository is a page here, whose links begin in this folder."""
    if docname == "readme":
        text = (pathlib.Path(app.srcdir).parent / "README.md").read_text()
        source[0] = text.replace("(docs/", "(").replace("(CONTRIBUTING.md", "(contributing.md").replace("(CHANGELOG.md", "(changes.md")
    else:
        source[0] = source[0].replace("(../README.md", "(readme.md")


def setup(app):
    app.connect("source-read", read_front_page)
