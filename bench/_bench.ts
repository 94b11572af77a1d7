import { existsSync, readFileSync } from "node:fs";

/** One line of a bench: what was measured, the ratio or value, and what it must reach. */
export interface Row {
  what: string;
  measured: string;
  target: string;
  good: boolean;
}

export function show(rows: readonly Row[]): void {
  const width = Math.max(...rows.map(({ what }) => what.length));
  const measured = Math.max(...rows.map((row) => row.measured.length));
  for (const row of rows) {
    console.log(
      `${row.good ? "ok  " : "MISS"}  ${row.what.padEnd(width)}  ${row.measured.padStart(measured)}  (${row.target})`,
    );
  }
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? Number.NaN;
}

/** Largest resident memory that a running process has had, in bytes; Linux only. */
export function peakMemory(pid: number): number {
  const file = `/proc/${pid}/status`;
  if (!existsSync(file)) return Number.NaN;
  const found = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(file, "utf8"));
  return found === null ? Number.NaN : Number(found[1]) * 1024;
}
