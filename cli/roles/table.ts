import type { OperatorRole, Permission, PermissionView } from '../../contracts/admin/operators.ts';
import { commandProcedures } from './procedures.ts';

/** Which roles may use a command. `part` means that a role may use it for some records only. */
export type CommandRoles = { command: string } & Record<OperatorRole, Permission | 'part'>;

/** The permissions, from the weakest to the strongest. */
const fromWeakest: readonly Permission[] = ['no', 'own', 'test', 'reason', 'yes'];
/** The permissions for a procedure without a row in the server's table. The server lets only owners call it. */
const ofUnlisted = { support: 'no', ops: 'no', owner: 'yes' } as const;

/** Returns the permission for a command that calls all of these procedures: the weakest one. It may be used by all if it calls none. */
function weakest(permissions: readonly Permission[]): Permission {
  return fromWeakest.find((permission) => permissions.includes(permission)) ?? 'yes';
}

/** Returns the permission for `show`. It calls a different procedure for each kind of record, so a role may be allowed some kinds. */
function permissionOfShow(permissions: readonly Permission[]): Permission | 'part' {
  const isForSomeKinds = permissions.includes('yes') && permissions.includes('no');
  return isForSomeKinds ? 'part' : weakest(permissions);
}

/** Returns the commands that call the server, each with the roles that may use it. */
export function rolesOfCommands(
  procedures: readonly PermissionView[],
  commands: Readonly<Record<string, readonly string[]>> = commandProcedures,
): CommandRoles[] {
  const byPath = new Map(procedures.map((row) => [row.procedure, row]));
  return Object.entries(commands).map(([command, paths]) => {
    const permissionOf = (role: OperatorRole) => {
      const permissions = paths.map((path) => (byPath.get(path) ?? ofUnlisted)[role]);
      return command === 'show' ? permissionOfShow(permissions) : weakest(permissions);
    };
    return {
      command,
      support: permissionOf('support'),
      ops: permissionOf('ops'),
      owner: permissionOf('owner'),
    };
  });
}
