import type { StatusView } from '../../contracts/admin/status.ts';
import { describeDifference } from '../../contracts/processes.ts';

/** Says of each setting that differs between processes which of them have which value. */
export const describeDifferences = ({
  differingSettings,
  processes,
}: Partial<Pick<StatusView, 'differingSettings' | 'processes'>>): string[] =>
  (differingSettings ?? []).map((differing) => describeDifference(differing, processes ?? []));

/** Says how to end the differences; undefined if there are none. */
export function remedyOf(differingSettings: StatusView['differingSettings'] | undefined): string | undefined {
  if (!differingSettings?.length) return undefined;
  const names = differingSettings.map(({ setting }) => setting).join(', ');
  return `give all processes the same ${names}, then restart those that had another`;
}
