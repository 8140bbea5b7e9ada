import type { DifferingSetting, ProcessView } from './admin/status.ts';

type Process = Readonly<ProcessView>;

/** How many processes a sentence names. A large installation has hundreds, and `svcadmin status` lists them. */
const mostNamed = 3;

/** Names a process as in `web-1 4711 (api, admin)`: its host, its process id, and what tells it from others. */
export const processName = ({ host, pid }: Pick<Process, 'host' | 'pid'>, details: readonly string[] = []) =>
  details.length === 0 ? `${host} ${pid}` : `${host} ${pid} (${details.join(', ')})`;

/** Joins names of processes for a sentence. */
export function listProcesses(names: readonly string[]): string {
  const named = names.slice(0, mostNamed).join(', ');
  return names.length > mostNamed ? `${named} and ${names.length - mostNamed} more` : named;
}

/** Says which processes have which value of a setting that all must share. */
export function describeDifference(
  { setting, values }: DifferingSetting,
  processes: readonly Pick<Process, 'id' | 'host' | 'pid' | 'roles'>[],
): string {
  const nameOf = new Map(processes.map((process) => [process.id, processName(process, process.roles)]));
  const found = values.map(
    ({ value, processes: ids }) => `${value} at ${listProcesses(ids.map((id) => nameOf.get(id) ?? id))}`,
  );
  return `${setting} differs between processes: ${found.join('; ')}`;
}
