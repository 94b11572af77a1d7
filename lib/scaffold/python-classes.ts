/** A class at the top of a Python file. */
interface PythonClass {
  name: string;
  bases: string;
}

/** The classes of a Python file that are not within something, in order. */
export async function topClasses(text: string): Promise<PythonClass[]> {
  const { parser } = await import("@lezer/python");
  const classes: PythonClass[] = [];
  for (let node = parser.parse(text).topNode.firstChild; node !== null; node = node.nextSibling) {
    const definition = node.name === "DecoratedStatement" ? node.getChild("ClassDefinition") : node;
    if (definition?.name !== "ClassDefinition") continue;
    const name = definition.getChild("VariableName");
    const bases = definition.getChild("ArgList");
    if (name !== null) {
      classes.push({
        name: text.slice(name.from, name.to),
        bases: bases === null ? "" : text.slice(bases.from, bases.to),
      });
    }
  }
  return classes;
}

/** The class that is a file's client: the one named like the file, else the first that looks like one, else the first. */
export async function clientClass(text: string, stem: string): Promise<string | null> {
  const classes = await topClasses(text);
  const plain = (name: string) => name.replaceAll("_", "").toLowerCase();
  const found =
    classes.find(({ name }) => plain(name) === plain(stem)) ??
    classes.find(({ bases }) => /Client\b/.test(bases)) ??
    classes.find(({ name }) => name.endsWith("Client")) ??
    classes[0];
  return found?.name ?? null;
}
