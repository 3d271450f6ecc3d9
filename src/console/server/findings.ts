/** Problems of the console's server. Codes: SL1300 to SL1319. */
import { problem } from '../../errors/finding.ts'

export const tokenRequired = problem<Record<never, never>>({
  code: 'SL1300',
  severity: 'error',
  message: () => 'this browser has no session of the console',
  remedy: () => 'open the link that `stackloom console` printed last; each link works once',
})

export const tokenRefused = problem<Record<never, never>>({
  code: 'SL1301',
  severity: 'error',
  message: () => 'the link is wrong or was used before',
  remedy: () => 'open the link that `stackloom console` printed last; each link works once',
})

export const hostRefused = problem<{ host: string }>({
  code: 'SL1302',
  severity: 'error',
  message: ({ host }) => `the console does not answer for the host ${JSON.stringify(host.slice(0, 100))}`,
  remedy: () => 'use the address of the link that `stackloom console` printed',
})

export const originRefused = problem<{ origin: string }>({
  code: 'SL1303',
  severity: 'error',
  message: ({ origin }) => `a page of ${JSON.stringify(origin.slice(0, 100))} may not use the console`,
  remedy: () => 'open the console itself',
})

export const actionsOff = problem<Record<never, never>>({
  code: 'SL1304',
  severity: 'error',
  message: () => 'actions are off',
  remedy: () => 'start the console with --allow-actions, or run the command in a terminal',
})

export const badRequest = problem<{ reason: string }>({
  code: 'SL1305',
  severity: 'error',
  message: ({ reason }) => `the request cannot be answered: ${reason}`,
  remedy: () => 'reload the page',
})

export const notFound = problem<{ what: string }>({
  code: 'SL1306',
  severity: 'error',
  message: ({ what }) => `there is no ${what}`,
  remedy: () => 'go back to the overview',
})

export const tooManyStreams = problem<Record<never, never>>({
  code: 'SL1307',
  severity: 'error',
  message: () => 'too many pages of this console are open',
  remedy: () => 'close some of them',
})

export const pageNotBuilt = problem<Record<never, never>>({
  code: 'SL1308',
  severity: 'error',
  message: () => 'this checkout has no built page',
  remedy: () => 'run `make build`',
})

export const callerUnknown = problem<Record<never, never>>({
  code: 'SL1309',
  severity: 'error',
  message: () => 'the request has no bearer token that the API server accepts',
  remedy: () => 'open the console through the proxy that signs you in to the cluster',
})

export const tooManyCallers = problem<Record<never, never>>({
  code: 'SL1310',
  severity: 'error',
  message: () => 'too many callers sign in at once',
  remedy: () => 'reload the page in a moment',
})
