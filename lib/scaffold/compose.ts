import { stat } from "node:fs/promises";
import { join } from "node:path";
import { YamlText } from "../edit/yaml-edit.ts";
import { problemsError } from "../errors.ts";
import { composeName, repositoryName } from "./names.ts";
import type { FilePlan } from "./plan.ts";
import { renderTemplate } from "./render.ts";

/** Names that docker compose looks for, in its order. */
const NAMES = ["compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"] as const;

/** An agent that is to have a service. */
export interface ComposedAgent {
  name: string;
  /** Null where its configuration does not say. */
  port: number | null;
}

/**
 * Plans a service for every agent that has none, in the compose file that is there or a new one; all else in it stays.
 *
 * @param anew an agent whose service is written anew
 * @throws BatError (code `config`) with the place for a file that is no compose file
 */
export async function planServices(
  plan: FilePlan,
  given: { root: string; folder: string; agents: readonly ComposedAgent[]; anew: string | null },
): Promise<void> {
  const { root, folder, agents, anew } = given;
  const { path, yaml, services } = await openCompose(plan, root, folder);
  const image = `\${IMAGE_TAG:-${repositoryName(folder, "blueprint")}:dev}`;
  for (const agent of agents) {
    if (Object.hasOwn(services, agent.name) && agent.name !== anew) continue;
    yaml.set(["services", agent.name], service(agent, image));
  }
  await plan.put(path, yaml.toString());
}

/**
 * Plans a service for an agent that is a project of its own in the blueprint, with an image of its own; one that is there
 * already stays.
 */
export async function planOwnService(
  plan: FilePlan,
  given: { root: string; folder: string; name: string; port: number },
): Promise<void> {
  const { root, folder, name, port } = given;
  const { path, yaml, services } = await openCompose(plan, root, folder);
  if (!Object.hasOwn(services, name)) {
    yaml.set(["services", name], {
      image: `\${${name.toUpperCase().replaceAll("-", "_")}_IMAGE:-${repositoryName(name, "agent")}:dev}`,
      build: { context: `./${name}` },
      environment: { PORT: String(port) },
      env_file: [`./${name}/.env`],
      network_mode: "host",
      restart: "unless-stopped",
    });
  }
  await plan.put(path, yaml.toString());
}

/** The compose file that is there, or a new one, under edit. */
async function openCompose(
  plan: FilePlan,
  root: string,
  folder: string,
): Promise<{ path: string; yaml: YamlText; services: Record<string, unknown> }> {
  const path = await composeFile(root);
  const name = composeName(folder);
  const before =
    (await plan.current(path)) ??
    (await renderTemplate("blueprint/docker-compose.yaml", { texts: { COMPOSE_NAME: name } }));
  const file = plan.shown(path);
  const yaml = new YamlText(before, { file });
  if (yaml.value === null) yaml.set(["name"], name);
  const services = yaml.get(["services"]) ?? {};
  if (typeof services !== "object" || Array.isArray(services)) {
    throw problemsError("config", `Cannot add a service to ${file}, nothing was written:`, [
      { file, place: yaml.place(["services"]), message: "Expected services to be a mapping" },
    ]);
  }
  return { path, yaml, services: services as Record<string, unknown> };
}

async function composeFile(root: string): Promise<string> {
  for (const name of NAMES)
    if ((await stat(join(root, name)).catch(() => null)) !== null) return join(root, name);
  return join(root, "docker-compose.yaml");
}

function service({ name, port }: ComposedAgent, image: string): object {
  const healthcheck = {
    test: ["CMD-SHELL", `curl -fsS http://localhost:${port}/ping`],
    interval: "5s",
    timeout: "2s",
    retries: 5,
  };
  return {
    image,
    build: { context: ".", args: { VERSION: "${VERSION:-}" } },
    command: [name],
    environment: { CONFIG_PATH: `${name}/config.yaml`, LOG_LEVEL: "${LOG_LEVEL:-info}" },
    env_file: [".env"],
    volumes: [`./${name}/config.yaml:/app/${name}/config.yaml:ro`],
    network_mode: "host",
    ...(port === null ? {} : { healthcheck }),
    restart: "unless-stopped",
  };
}
