// A text of C++ or WGSL to write in. Tab indents; Escape and then Tab leaves the editor, as CodeMirror has it.
import { autocompletion, closeBrackets, closeBracketsKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { cppLanguage } from "@codemirror/lang-cpp";
import { bracketMatching, HighlightStyle, indentOnInput, indentUnit, LanguageSupport, StreamLanguage, syntaxHighlighting } from "@codemirror/language";
import { rust } from "@codemirror/legacy-modes/mode/rust";
import { setDiagnostics } from "@codemirror/lint";
import { EditorState } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  { tag: [tags.keyword, tags.modifier, tags.controlKeyword, tags.operatorKeyword, tags.definitionKeyword], color: "var(--code-keyword)" },
  { tag: [tags.typeName, tags.standard(tags.name)], color: "var(--code-type)" },
  { tag: [tags.number, tags.bool, tags.null, tags.string, tags.character], color: "var(--code-literal)" },
  { tag: [tags.comment, tags.lineComment, tags.blockComment], color: "var(--code-comment)" },
  { tag: [tags.processingInstruction, tags.macroName], color: "var(--code-type)" },
]);

// CodeMirror has no WGSL. Of what it has, Rust fits best, as in the notebooks.
const languages = { cuda: cppLanguage, wgsl: StreamLanguage.define(rust) };

export function editor(parent, text, label, language, { run, changed }) {
  const help = document.createElement("p");
  help.className = "visually-hidden";
  help.id = `help-${Math.random().toString(36).slice(2)}`;
  help.textContent = "Tab indents. Escape and then Tab leaves the editor. Control Enter runs.";
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), indentOnInput(), bracketMatching(), closeBrackets(),
        indentUnit.of("    "), EditorState.tabSize.of(4), autocompletion({ activateOnTyping: false }),
        new LanguageSupport(languages[language]), syntaxHighlighting(colours),
        keymap.of([
          { key: "Ctrl-Enter", mac: "Cmd-Enter", run: () => { run(); return true; } },
          { key: "Shift-Enter", run: () => { run(); return true; } },
          ...closeBracketsKeymap, ...historyKeymap, indentWithTab, ...defaultKeymap,
        ]),
        EditorView.updateListener.of((update) => { if (update.docChanged) changed(update.state.doc.toString()); }),
        EditorView.contentAttributes.of({ "aria-label": `${label}, an editor`, "aria-describedby": help.id, spellcheck: "false" }),
      ],
    }),
  });
  parent.append(help);
  return {
    text: () => view.state.doc.toString(),
    set: (to) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: to } }),
    focus(at) {
      view.focus();
      const place = at && view.posAtCoords(at, false);
      if (place !== undefined) view.dispatch({ selection: { anchor: place } });
    },
    mark(marks) { // [{line, message}]: what is wrong, under the line
      const found = marks.filter(({ line }) => line >= 1 && line <= view.state.doc.lines).map(({ line, message }) => {
        const { from, to, text } = view.state.doc.line(line);
        return { from: from + (text.length - text.trimStart().length), to, severity: "error", message };
      });
      view.dispatch(setDiagnostics(view.state, found));
    },
    show(line) {
      if (line < 1 || line > view.state.doc.lines) return;
      view.dispatch({ selection: { anchor: view.state.doc.line(line).from }, scrollIntoView: true });
      view.focus();
    },
  };
}
