// Colours a cell that begins with `%%exercise NAME`, where that exercise is in CUDA C++ or in WGSL, and `.cu` and `.wgsl` files.
//
// JupyterLab (4.2 or newer) wants an extension as a container of webpack's module federation: an object with `init`, which is
// handed the modules that JupyterLab shares, and `get`, which gives what this one brings. Written by hand that takes a few
// lines, at the end of this file, and the course needs no Node to build it.
//
// `course lab` copies this folder into the environment and adds languages.json: {name of an exercise: its language}.
(() => {
const LANGUAGES = [
  { name: "cuda", displayName: "CUDA C++", mime: "text/x-cuda", extensions: ["cu", "cuh"], like: "text/x-c++src" },
  // JupyterLab has no WGSL. Of what it has, Rust fits best: it knows `fn`, `let`, `struct`, and names of types as in `x: f32`.
  // As C++, `fn` and `let` pass for types in one line and for nothing in the next.
  { name: "wgsl", displayName: "WGSL", mime: "text/x-wgsl", extensions: ["wgsl"], like: "text/x-rustsrc" },
];
const FOLDER = new URL("..", document.currentScript.src);
let packages; // name -> version -> { get }

async function shared(name) {
  const [only] = Object.values(packages[name]); // JupyterLab shares one version of each
  return (await only.get())();
}

async function activate(app, registry) {
  const languageOf = await (await fetch(new URL("languages.json", FOLDER))).json();
  await addLanguages(registry);
  // A language is loaded when it is first wanted, and the last one to arrive wins. Once loaded, the last one wanted does.
  for (const mime of ["text/x-python", "text/x-ipython"]) await registry.getLanguage(mime);

  app.docRegistry.addWidgetExtension("Notebook", {
    createNew(panel, context) {
      const cells = context.model.cells;
      const colour = cell => {
        const exercise = /^%%exercise\s+(\S+)/.exec(cell.sharedModel.source)?.[1];
        const language = LANGUAGES.find(({ name }) => name === languageOf[exercise]);
        cell.mimeType = language ? language.mime : panel.content.codeMimetype;
      };
      const watch = () => {
        for (const cell of cells) {
          if (cell.type !== "code") continue;
          cell.contentChanged.connect(colour); // once: a second time it does nothing
          cell.mimeTypeChanged.connect(colour); // the notebook makes all cells Python again when the kernel has started
          colour(cell);
        }
      };
      cells.changed.connect(watch);
      watch();
    },
  });
}

async function addLanguages(registry) {
  const { HighlightStyle, Language, LanguageSupport, indentService, syntaxHighlighting } = await shared("@codemirror/language");
  const { tags } = await shared("@lezer/highlight");
  // JupyterLab's theme has no colour for the names of types: `float` would look like a variable.
  const types = HighlightStyle.define([{ tag: tags.typeName, color: "var(--jp-mirror-editor-builtin-color)" }]);
  // The parsers indent by nothing behind a brace that is still open, as in a line just typed: so the braces alone decide.
  const braces = indentService.of((context, position) => {
    const line = context.lineAt(position);
    const above = context.state.sliceDoc(0, line.from).trimEnd().split("\n").pop();
    const opened = /\{\s*(\/\/.*)?$/.test(above), closed = /^\s*\}/.test(line.text);
    return context.countColumn(above, above.search(/\S|$/)) + context.unit * (opened - closed);
  });
  for (const { like, ...description } of LANGUAGES) {
    const { language, support } = (await registry.getLanguage(like)).support;
    const parser = Object.create(language.parser, { createParse: { value: (input, ...rest) =>
      language.parser.createParse(commented(input), ...rest) } });
    const extensions = [support, syntaxHighlighting(types), braces];
    registry.addLanguage({ ...description, support: new LanguageSupport(new Language(language.data, parser), extensions) });
  }
}

// The text as a parser shall see it: with the line of the magic as a comment.
function commented(input) {
  const slashes = (text, from) => from === 0 ? text.replace(/^%%(?=exercise\s)/, "//") : text;
  return {
    length: input.length, lineChunks: input.lineChunks,
    chunk: from => slashes(input.chunk(from), from), read: (from, to) => slashes(input.read(from, to), from),
  };
}

(window._JUPYTERLAB ??= {})["course-exercises"] = {
  init(scope) { packages = scope; },
  async get() {
    const { IEditorLanguageRegistry } = await shared("@jupyterlab/codemirror");
    const plugin = { id: "course-exercises:colours", autoStart: true, requires: [IEditorLanguageRegistry], activate };
    return () => ({ __esModule: true, default: plugin });
  },
};
})();
