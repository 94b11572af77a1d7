import { setFlagsFromString } from "node:v8";

/**
 * For commands that go on for long and keep nothing: the heap then never needs to grow much. Left to themselves its
 * generations do grow, and the memory of a long run is that of its garbage. To be called before the engine is loaded.
 */
export function keepHeapSmall(): void {
  setFlagsFromString("--semi-space-growth-factor=1");
  setFlagsFromString("--heap-growing-percent=10");
}
