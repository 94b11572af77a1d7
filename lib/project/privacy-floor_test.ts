import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { findPrivacyFloors, floorsOf } from "./privacy-floor.ts";

const KEY = "telemetry_privacy_floor";

describe("floorsOf", () => {
  const cases: [source: string, levels: string[]][] = [
    [`A(${KEY}="content")`, ["content"]],
    [`A(G, S, ${KEY} = ' FULL ')`, ["full"]],
    [`A(${KEY}="secret")`, ["none"]],
    [`A(${KEY}="")`, ["none"]],
    [`A(${KEY}=None)`, ["none"]],
    [`A(${KEY}=2)`, ["none"]],
    [`A(${KEY}=True)`, ["none"]],
    [`A(${KEY}=b"full")`, ["none"]],
    [`A(${KEY}="na" 'mes')`, ["names"]],
    [`A(${KEY}=("names"))`, ["names"]],
    [`A(${KEY}="""full""")`, ["full"]],
    [`A(${KEY}=r"full")`, ["full"]],
    [`A(${KEY}="f\\x75ll")`, ["full"]],
    [`A(${KEY}=TelemetryPrivacy.CONTENT)`, ["content"]],
    [`A(${KEY}=bat.telemetry.Privacy.none)`, ["none"]],
    [`A(${KEY}=Privacy.OTHER)`, ["unknown"]],
    [`A(${KEY}=Privacy["FULL"])`, ["unknown"]],
    [`A(${KEY}=level)`, ["unknown"]],
    [`A(${KEY}=level())`, ["unknown"]],
    [`A(${KEY}=-1)`, ["unknown"]],
    [`A(${KEY}="full" if x else "none")`, ["unknown"]],
    [`A(${KEY}=("full",))`, ["unknown"]],
    [`A(${KEY}=f"full")`, ["unknown"]],
    [`A(${KEY}="fu" f"{x}")`, ["unknown"]],
    [`a.b(c(1, d(${KEY}="full")), ${KEY}="names")`, ["full", "names"]],
    [`@app(${KEY}="full")\ndef f(): pass`, ["full"]],
    [`A(${KEY}= # why\n  "full")`, ["full"]],
    [`x = f"{A(${KEY}='names')}"`, ["names"]],
    [`# A(${KEY}="full")`, []],
    [`x = 'A(${KEY}="full")'`, []],
    [`"""\nA(${KEY}="full")\n"""`, []],
    [`${KEY} = "full"`, []],
    [`def f(${KEY}="full"): pass`, []],
    [`class A(B, ${KEY}="full"): pass`, []],
    [`A(**{"${KEY}": "full"})`, []],
    [`A(${KEY} == "full")`, []],
    [`A(${KEY})`, []],
    [`A(my_${KEY}="full")`, []],
  ];
  for (const [source, levels] of cases) {
    it(JSON.stringify(source), async () => {
      assert.deepEqual(
        (await floorsOf(source)).map(({ level }) => level),
        levels,
      );
    });
  }

  for (const source of ["def f(:\n  pass", "A(", "x = = 1", "class\n", "yield yield", "case {"]) {
    it(`skips a file that does not parse: ${JSON.stringify(source)}`, async () => {
      assert.deepEqual(await floorsOf(`A(${KEY}="full")\n${source}\n`), []);
    });
  }

  const valid = [
    "@contextmanager\ndef f():\n    yield\n",
    "x = (yield)\n",
    "t = 1. * 2.\n",
    "with a() as (b, c):\n    pass\n",
    "with a() as self.b, c() as d.e:\n    pass\n",
    "f = lambda a, /, b: a\n",
    "match x:\n    case []:\n        pass\n    case {}:\n        pass\n    case Point():\n        pass\n",
    "async def f():\n    async with a as b:\n        return [x async for x in b]\n",
    "def f[T](x: T) -> T: return x\n",
    "type A = int | str\n",
    "try:\n    pass\nexcept* ValueError:\n    pass\n",
    "print(f'{x!r:>{width}}')\n",
    "if (n := 3) > 2: pass\n",
  ];
  for (const source of valid) {
    it(`reads all of Python: ${JSON.stringify(source.split("\n")[0])}`, async () => {
      assert.deepEqual(await floorsOf(`${source}A(${KEY}="full")\n`), [
        { line: source.split("\n").length, level: "full" },
      ]);
    });
  }
});

describe("findPrivacyFloors", () => {
  it("reads every Python file but those of tests and hidden folders, and tells file and line", async (t) => {
    const dir = mkdtempSync(join(tmpdir(), "bat-floor-"));
    t.after(() => rmSync(dir, { recursive: true }));
    const files: Record<string, string> = {
      "app.py": `\n\nA(\n  G,\n  ${KEY}=\n    "full",\n)\n`,
      "src/deep/er.py": `A(${KEY}=P.NAMES)\r\nA(${KEY}=x)\r\n`,
      "broken.py": `A(${KEY}="full"`,
      "latin.py": `# \u00e9\nA(${KEY}="none")`,
      "notes.txt": `A(${KEY}="full")`,
      "tests/test_a.py": `A(${KEY}="full")`,
      "src/tests/test_b.py": `A(${KEY}="full")`,
      ".venv/lib/x.py": `A(${KEY}="full")`,
    };
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(dir, name)), { recursive: true });
      writeFileSync(join(dir, name), text, name === "latin.py" ? "latin1" : "utf8");
    }
    symlinkSync("nowhere.py", join(dir, "gone.py"));
    assert.deepEqual(await findPrivacyFloors(dir), [
      { file: "app.py", line: 6, level: "full" },
      { file: "latin.py", line: 2, level: "none" },
      { file: join("src", "deep", "er.py"), line: 1, level: "names" },
      { file: join("src", "deep", "er.py"), line: 2, level: "unknown" },
    ]);
  });
});
