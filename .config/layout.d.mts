interface Module {
  source: string;
  dependencies: readonly { resolved: string }[];
}
interface Layout {
  floors: readonly { room: string; holds: string; entrance?: string }[];
  apart: Readonly<Record<string, string>>;
  entries: readonly string[];
}
export function importFaults(modules: readonly Module[], layout: Layout): string[];
export function drawFloors(modules: readonly Module[], layout: Layout): string;
export function folderFaults(paths: readonly string[]): string[];
export function collectionFaults(files: readonly { path: string; text: string }[]): string[];
