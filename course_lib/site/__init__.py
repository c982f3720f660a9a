"""The web edition: the course as a folder of static files that any host can serve, with an editor and a judge in the page.

    build.py      puts everything together: `course site build`
    chapters.py   the table of chapters in README.md, as data
    links.py      where each link of a notebook leads on the site
    staging.py    stored notebooks -> what Sphinx renders: pictures as files, exercises as editors
    first.py      the first screen, free play, the page about storage
    pages.py      Sphinx, its settings, formulas by KaTeX
    npm.py        packages from a lock file, bundled
    licences.py   what others wrote of the site's files, and the texts of its licences
    engine.py     what compiles, runs and judges CUDA C++ in the page, and the values of WGSL; its modules are in engine/
    exported_cases.py, recorder.py   the exercises' cases as data
    predicates.py, questions.py   what known mistakes are recognised by, as data
    packing.py    how the engine's files are compressed
    offline.py    the service worker and what it may keep
    page/         what runs in the browser

It stands beside the house and looks in; nothing imports it but the command line. It executes no notebook.
"""
