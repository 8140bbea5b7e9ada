import type { Document } from 'mongodb';

/** Errors of a member that is not, or no longer, the primary; and of a write that a majority does not have. */
const codes = {
  CommandNotFound: 59,
  WriteConcernTimeout: 64,
  ShutdownInProgress: 91,
  CommandNotSupported: 115,
  PrimarySteppedDown: 189,
  NotWritablePrimary: 10_107,
  InterruptedAtShutdown: 11_600,
  InterruptedDueToReplStateChange: 11_602,
  NotPrimaryNoSecondaryOk: 13_435,
} as const;
export type CodeName = keyof typeof codes;

/** Of a write concern that failed in an election: a driver sends a retryable write again. */
const retryable = new Set<CodeName>([
  'ShutdownInProgress',
  'PrimarySteppedDown',
  'NotWritablePrimary',
  'InterruptedAtShutdown',
  'InterruptedDueToReplStateChange',
  'NotPrimaryNoSecondaryOk',
]);

/** What a command is answered with. */
export class MemberError extends Error {
  readonly codeName: CodeName;

  constructor(codeName: CodeName, message: string = codeName) {
    super(message);
    this.codeName = codeName;
  }
}

const described = (codeName: CodeName, errmsg: string): Document => ({
  errmsg,
  code: codes[codeName],
  codeName,
});

/** The server labels what its driver may send again: retryable writes only. */
export const labelsOf = (codeName: CodeName, { txnNumber }: Document): Document =>
  txnNumber !== undefined && retryable.has(codeName) ? { errorLabels: ['RetryableWriteError'] } : {};

export const errorReply = ({ codeName, message }: MemberError, command: Document): Document => ({
  ok: 0,
  ...described(codeName, message),
  ...labelsOf(codeName, command),
});

/** The reply of a write that is done here, and of which it is not known whether a majority will have it. */
export const unacknowledged = (reply: Document, codeName: CodeName, command: Document): Document => ({
  ...reply,
  writeConcernError: described(codeName, 'the write may be rolled back'),
  ...labelsOf(codeName, command),
});
