import { describeDifference, processName } from '../../../contracts/processes.ts';
import type { ProcessRecord, ProcessSurvey } from '../../platform/jobs/processes.ts';
import { type HelpWith, type Table, type Task, texts, timeOf } from './ops-cells.ts';

type Help = HelpWith<'doctor' | 'status'>;

export const clockTask = (help: Help): Task => [
  "The clock of this process is over 2 s off the database's, or was not measured lately: exchanges get 503",
  help('doctor'),
];

/**
 * Lists the roles that no process has, the settings in which processes differ, and the processes that are not ready, each
 * with the command that helps.
 */
export const processTasks = (
  { processes, missingRoles, differingSettings }: ProcessSurvey,
  help: Help,
): Task[] => [
  ...missingRoles.map(
    ({ role, since }): Task => [
      `No process with the role ${role}${since ? ` since ${timeOf(since)} UTC` : ''}`,
      help('status'),
    ],
  ),
  ...differingSettings.map((differing): Task => {
    const named = processes.map(({ _id: id, ...process }) => ({ id, ...process }));
    return [describeDifference(differing, named), help('doctor')];
  }),
  ...processes
    .filter(({ condition }) => condition && condition.reasons.length > 0)
    .map(
      (process): Task => [
        `${processName(process, process.roles)} is not ready: ${process.condition?.reasons.join('; ')}`,
        help('doctor'),
      ],
    ),
];

function readinessText({ condition }: ProcessRecord): string {
  if (!condition) return 'unknown';
  return condition.reasons.length === 0 ? 'ready' : condition.reasons.join('; ');
}

export const processTable = ({ processes }: ProcessSurvey): Table => ({
  title: 'Processes',
  headings: ['Host', 'Process', 'Build', 'Roles', 'Ready', 'Clock offset', 'Master keys', 'Last seen (UTC)'],
  rows: processes.map((process) => {
    const { host, pid, build, roles, condition, masterKeys, lastSeenAt } = process;
    return texts(
      host,
      pid,
      build,
      roles.join(', '),
      readinessText(process),
      condition ? `${condition.clockOffsetMs} ms` : null,
      masterKeys.join(', '),
      timeOf(lastSeenAt),
    );
  }),
});
