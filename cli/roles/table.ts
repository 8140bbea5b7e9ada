import type { Permission, PermissionView } from '../../contracts/admin/operators.ts';
import { commandProcedures } from './procedures.ts';

/** Which roles may use a command. `part` means that a role may use it for some records only. */
export interface CommandRoles {
  command: string;
  support: Permission | 'part';
  ops: Permission | 'part';
  owner: Permission | 'part';
}

/** The permissions, from the weakest to the strongest. */
const order: readonly Permission[] = ['no', 'own', 'test', 'yes'];

/** Returns the permission for a command that calls all of these procedures: the weakest one. */
function weakest(permissions: readonly Permission[]): Permission {
  return order.find((permission) => permissions.includes(permission)) ?? 'yes';
}

/** Returns the permission for `show`, which calls only one of its procedures, depending on the argument. */
function permissionOfShow(permissions: readonly Permission[]): Permission | 'part' {
  return permissions.includes('no') && permissions.includes('yes') ? 'part' : weakest(permissions);
}

/** Returns the commands that call the server, each with the roles that may use it. */
export function rolesOfCommands(
  procedures: readonly PermissionView[],
  commands: Readonly<Record<string, readonly string[]>> = commandProcedures,
): CommandRoles[] {
  const byPath = new Map(procedures.map((row) => [row.procedure, row]));
  return Object.entries(commands).map(([command, paths]) => {
    const permissionOf = (role: 'support' | 'ops' | 'owner') => {
      const ofUnknown = role === 'owner' ? 'yes' : 'no';
      const permissions = paths.map((path) => byPath.get(path)?.[role] ?? ofUnknown);
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
