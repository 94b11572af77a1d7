/** An address as it may be shown: no password, no values in its query. */
export function withoutSecrets(url: string | null): string {
  if (url === null || !URL.canParse(url)) return url ?? "";
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "secret";
  for (const name of [...shown.searchParams.keys()]) shown.searchParams.set(name, "secret");
  return shown.href === new URL(url).href ? url : shown.href;
}
