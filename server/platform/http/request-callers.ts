import type { FastifyRequest } from 'fastify';

/** Keeps the authenticated caller of each request, from the check of its credentials until its handler ends. */
export function createRequestCallers<Caller extends object>() {
  const callers = new WeakMap<FastifyRequest, Caller>();
  return {
    set: (request: FastifyRequest, caller: Caller): void => void callers.set(request, caller),

    /** Returns the caller of a request; undefined if the credentials were not accepted. */
    find: (request: FastifyRequest): Caller | undefined => callers.get(request),

    /** Returns the caller of a request. @throws Error if the route did not check the credentials first */
    require(request: FastifyRequest): Caller {
      const caller = callers.get(request);
      if (!caller) throw new Error('a request was handled before its credentials were checked');
      return caller;
    },
  };
}
