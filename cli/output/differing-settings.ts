import type { StatusView } from '../../contracts/admin/status.ts';

/** How many processes with the same value are named. Most of a large installation have the right one. */
const mostNamed = 3;

/** Says of each setting that differs between processes which of them have which value. */
export function describeDifferences({
  differingSettings,
  processes,
}: Partial<Pick<StatusView, 'differingSettings' | 'processes'>>): string[] {
  function nameOf(id: string): string {
    const process = processes?.find((one) => one.id === id);
    return process ? `${process.host} ${process.pid} (${process.roles})` : id;
  }
  function namesOf(ids: readonly string[]): string {
    const names = ids.slice(0, mostNamed).map(nameOf).join(', ');
    return ids.length > mostNamed ? `${names} and ${ids.length - mostNamed} more` : names;
  }
  return (differingSettings ?? []).map(({ setting, values }) => {
    const found = values.map(({ value, processes: ids }) => `${value} at ${namesOf(ids)}`);
    return `${setting} differs between processes: ${found.join('; ')}`;
  });
}

/** Says how to end the differences; undefined if there are none. */
export function remedyOf(differingSettings: StatusView['differingSettings'] | undefined): string | undefined {
  if (!differingSettings?.length) return undefined;
  const names = differingSettings.map(({ setting }) => setting).join(', ');
  return `give all processes the same ${names}, then restart those that had another`;
}
