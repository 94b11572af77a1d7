/** Shorter values are ordinary words more often than keys: a server's own errors leave them out, a judge's words keep them. */
const SHORTEST_IN_WORDS = 8;
const SHORTEST = 4;

/** Takes secrets out of texts, in every form in which a server or a library is likely to say them. */
export class Redactor {
  readonly #forms: { form: string; secret: string }[];

  constructor(secrets: readonly (string | null | undefined)[]) {
    const known = [...new Set(secrets.filter((one) => typeof one === "string"))].filter(
      (one) => one.length >= SHORTEST,
    );
    this.#forms = known
      .flatMap((secret) => formsOf(secret).map((form) => ({ form, secret })))
      // The longest first, so that none is left in part.
      .sort((a, b) => b.form.length - a.form.length);
  }

  /** For errors. */
  errors(text: string): string {
    return this.#without(text, SHORTEST);
  }

  /** For what a judge says. */
  words(text: string): string {
    return this.#without(text, SHORTEST_IN_WORDS);
  }

  #without(text: string, shortest: number): string {
    let redacted = text;
    for (const { form, secret } of this.#forms)
      if (secret.length >= shortest) redacted = redacted.replaceAll(form, "[secret]");
    return redacted;
  }
}

function formsOf(secret: string): string[] {
  const bytes = Buffer.from(secret, "utf8");
  const base64 = bytes.toString("base64");
  return [
    ...new Set([
      secret,
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
      base64,
      base64.replace(/=+$/, ""),
      bytes.toString("base64url"),
    ]),
  ];
}

/** The parts of an address that are secrets: its password, and values of its query. */
export function secretsInUrl(url: string | null): string[] {
  if (url === null || !URL.canParse(url)) return [];
  const { password, username, searchParams } = new URL(url);
  const basic = password === "" ? [] : [Buffer.from(`${username}:${password}`).toString("base64")];
  return [password, decodeURIComponent(password), ...basic, ...searchParams.values()].filter(
    (one) => one !== "",
  );
}
