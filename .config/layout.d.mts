interface Module {
  source: string;
  dependencies: readonly { resolved: string }[];
}
interface File {
  path: string;
  text: string;
}
interface Layout {
  floors: readonly { room: string; holds: string; entrance?: string }[];
  apart: Readonly<Record<string, string>>;
  entries: readonly string[];
}
export function importFaults(modules: readonly Module[], layout: Layout): string[];
export function drawFloors(modules: readonly Module[], layout: Layout): string;
export function folderFaults(paths: readonly string[]): string[];
export function collectionFaults(files: readonly File[]): string[];
export function wiringFaults(files: readonly File[]): string[];
export function titleFaults(files: readonly File[]): string[];
