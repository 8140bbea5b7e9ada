import type { Document } from 'mongodb';

/** The error codes of a member that is not, or no longer, the primary, and of a write that no majority has. */
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

/** The errors after which a driver sends a retryable write again. */
const retryable = new Set<CodeName>([
  'ShutdownInProgress',
  'PrimarySteppedDown',
  'NotWritablePrimary',
  'InterruptedAtShutdown',
  'InterruptedDueToReplStateChange',
  'NotPrimaryNoSecondaryOk',
]);

/** The answer to a command. */
export class MemberError extends Error {
  readonly codeName: CodeName;

  constructor(codeName: CodeName, message: string = codeName) {
    super(message);
    this.codeName = codeName;
  }
}

const errorFields = (codeName: CodeName, errmsg: string): Document => ({
  errmsg,
  code: codes[codeName],
  codeName,
});

/** Returns the error label of a retryable write, by which its driver knows that it can send the write again. */
export const labelsOf = (codeName: CodeName, { txnNumber }: Document): Document =>
  txnNumber !== undefined && retryable.has(codeName) ? { errorLabels: ['RetryableWriteError'] } : {};

export const errorReply = ({ codeName, message }: MemberError, command: Document): Document => ({
  ok: 0,
  ...errorFields(codeName, message),
  ...labelsOf(codeName, command),
});

/** Returns the reply to a write that this member has applied, but that may not reach a majority. */
export const unacknowledged = (reply: Document, codeName: CodeName, command: Document): Document => ({
  ...reply,
  writeConcernError: errorFields(codeName, 'the write may be rolled back'),
  ...labelsOf(codeName, command),
});
