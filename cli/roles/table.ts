import type { Permission, PermissionView } from '../../contracts/admin/operators.ts';
import { commandProcedures } from './procedures.ts';

/** Which roles may use a command. `part` means that a role may use it for some records only. */
export interface CommandRoles {
  command: string;
  support: Permission | 'part';
  ops: Permission | 'part';
  owner: Permission | 'part';
}

/** Commands that call only one of their procedures, depending on the argument. Other commands call all of theirs. */
const oneOfMany: ReadonlySet<string> = new Set(['show']);
const weakest: readonly Permission[] = ['no', 'own', 'test', 'yes'];

function combined(permissions: readonly Permission[], anyWill: boolean): Permission | 'part' {
  const least = weakest.find((one) => permissions.includes(one)) ?? 'yes';
  return anyWill && least === 'no' && permissions.includes('yes') ? 'part' : least;
}

/** Returns the commands that call the server, each with the roles that may use it. */
export function rolesOfCommands(
  procedures: readonly PermissionView[],
  commands: Readonly<Record<string, readonly string[]>> = commandProcedures,
): CommandRoles[] {
  const byPath = new Map(procedures.map((row) => [row.procedure, row]));
  return Object.entries(commands).map(([command, paths]) => {
    const of = (role: 'support' | 'ops' | 'owner') =>
      combined(
        paths.map((path) => byPath.get(path)?.[role] ?? (role === 'owner' ? 'yes' : 'no')),
        oneOfMany.has(command),
      );
    return { command, support: of('support'), ops: of('ops'), owner: of('owner') };
  });
}
