import { BatError, messageOf } from "../../errors.ts";
import { type HttpConnections, readBody } from "./http.ts";

export type A2aVersion = "1.0" | "0.3";
export type Binding = "JSONRPC" | "HTTP+JSON";

/** Where and how an agent is spoken to, as its card says. */
export interface AgentInterface {
  name: string;
  binding: Binding;
  version: A2aVersion;
  /** The version as the card spells it. */
  statedVersion: string;
  /** To be tried in order while nothing listens at the one before. */
  urls: string[];
  tenant: string | null;
  streaming: boolean;
}

const CARD_PATHS = ["/.well-known/agent-card.json", "/.well-known/agent.json"];
/** Some server or other answers every path with some JSON; a card has at least one of these. */
const MARKS_OF_A_CARD = ["supportedInterfaces", "url", "capabilities", "skills", "protocolVersion"];
const LARGEST_CARD_BYTES = 4 * 1024 * 1024;

/**
 * Fetches an agent's card, at its path of today and the one before, and picks the interface to speak to.
 *
 * @param url base URL of the agent
 * @throws BatError (code `agent`) that says what was tried and what came back
 */
export async function findInterface(
  http: HttpConnections,
  url: string,
  signal: AbortSignal,
  forced: string | undefined,
): Promise<AgentInterface> {
  const base = url.replace(/\/+$/, "");
  const tried: string[] = [];
  for (const path of CARD_PATHS) {
    const found = await fetchCard(http, `${base}${path}`, signal);
    if ("card" in found) return interfaceOf(found.card, base, forced);
    tried.push(`${path}: ${found.reason}`);
  }
  throw new BatError("agent", `No agent card at ${base} (${tried.join("; ")})`);
}

async function fetchCard(http: HttpConnections, url: string, signal: AbortSignal) {
  try {
    const answer = await http.send(url, { method: "GET", headers: { accept: "application/json" }, signal });
    const { text, whole } = await readBody(answer, LARGEST_CARD_BYTES);
    if (answer.statusCode !== 200) return { reason: `HTTP ${answer.statusCode}` };
    if (!whole) return { reason: `more than ${LARGEST_CARD_BYTES} bytes` };
    const card: unknown = JSON.parse(text);
    if (typeof card !== "object" || card === null || Array.isArray(card))
      return { reason: "expected a JSON object, found something else" };
    if (!MARKS_OF_A_CARD.some((key) => key in card))
      return { reason: `expected an agent card, found an object without ${MARKS_OF_A_CARD.join(", ")}` };
    return { card: card as Record<string, unknown> };
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    return { reason: error instanceof SyntaxError ? `no JSON: ${error.message}` : messageOf(error) };
  }
}

interface Offer {
  url: string;
  binding: string;
  version: string;
  tenant: string | null;
}

function interfaceOf(
  card: Record<string, unknown>,
  base: string,
  forced: string | undefined,
): AgentInterface {
  const offers = offersOf(card, base);
  const fits = ({ version }: Offer) => forced === undefined || versionOf(version) === versionOf(forced);
  const spoken = ["JSONRPC", "HTTP+JSON"].flatMap((name) => offers.filter(({ binding }) => binding === name));
  const offer = spoken.find(fits) ?? spoken[0];
  if (offer === undefined) {
    const bindings = [...new Set(offers.map(({ binding }) => binding))].join(", ");
    throw new BatError(
      "agent",
      `The agent card at ${base} offers ${bindings}; bat speaks JSONRPC and HTTP+JSON`,
    );
  }
  const capabilities = card.capabilities as { streaming?: unknown } | null | undefined;
  return {
    name: typeof card.name === "string" ? card.name : "agent",
    binding: offer.binding as Binding,
    version: forced === undefined ? versionOf(offer.version) : versionOf(forced),
    statedVersion: offer.version,
    urls: reachableUrls(offer.url, base),
    tenant: offer.tenant,
    streaming: capabilities?.streaming === true,
  };
}

/** Version 1.0 lists interfaces; before, a card has one URL and may list more. */
function offersOf(card: Record<string, unknown>, base: string): Offer[] {
  const text = (value: unknown) => (typeof value === "string" && value !== "" ? value : null);
  const stated = text(card.protocolVersion);
  const listed = (value: unknown) =>
    (Array.isArray(value) ? (value as unknown[]) : []).filter(
      (item) => typeof item === "object" && item !== null,
    ) as Record<string, unknown>[];
  const offers = listed(card.supportedInterfaces).map((item) => ({
    url: text(item.url) ?? base,
    binding: (text(item.protocolBinding) ?? "JSONRPC").toUpperCase(),
    version: text(item.protocolVersion) ?? stated ?? "1.0",
    tenant: text(item.tenant),
  }));
  if (offers.length > 0) return offers;
  const old = { version: stated ?? "0.3", tenant: null };
  const main = {
    ...old,
    url: text(card.url) ?? base,
    binding: (text(card.preferredTransport) ?? "JSONRPC").toUpperCase(),
  };
  const others = listed(card.additionalInterfaces).map((item) => ({
    ...old,
    url: text(item.url) ?? base,
    binding: (text(item.transport) ?? "JSONRPC").toUpperCase(),
  }));
  return [main, ...others];
}

/** Below 1 is 0.3, anything else is 1.0: the agent kit's cards say 2.0 and mean that. */
function versionOf(stated: string): A2aVersion {
  const major = Number.parseInt(stated, 10);
  return major === 0 ? "0.3" : "1.0";
}

/**
 * A card's URL may name a host or port that only holds where the agent runs (`0.0.0.0`, `localhost` behind a forwarded
 * port): then the address that the card came from is the next best. `localhost` from another host is never this
 * machine: who would answer here is a stranger.
 */
function reachableUrls(stated: string, base: string): string[] {
  let url: URL;
  try {
    url = new URL(stated, `${base}/`);
  } catch {
    return [base];
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") return [base];
  const given = new URL(base);
  const urls: string[] = [];
  const onlyThere = isLoopback(url.hostname) && !isLoopback(given.hostname);
  if (onlyThere || ["0.0.0.0", "[::]"].includes(url.hostname)) url.hostname = given.hostname;
  urls.push(url.href);
  const moved = new URL(url.href);
  moved.protocol = given.protocol;
  moved.hostname = given.hostname;
  moved.port = given.port;
  urls.push(moved.href);
  return [...new Set(urls)];
}

function isLoopback(hostname: string): boolean {
  return hostname === "localhost" || hostname === "[::1]" || /^127\./.test(hostname);
}
