import { describe, expect, it } from 'vitest'
import { statusObject } from '../../test/scripted-server.ts'
import { type ApiError, type ApiErrorKind, isApiError } from './api-error.ts'
import { errorFromResponse, errorFromWatch } from './status-error.ts'

const request = {
  server: 'https://api:6443',
  verb: 'apply',
  subject: 'metallb.io/IPAddressPool metallb-system/a',
}

function refused(code: number, reason: string, message: string, details?: unknown): ApiError {
  return errorFromResponse({ status: code, body: statusObject(code, reason, message, details) }, request)
}

const cases: readonly (readonly [string, ApiErrorKind, string, () => ApiError])[] = [
  ['a missing object', 'not-found', 'SL1113', () => refused(404, 'NotFound', 'x', { name: 'a', kind: 'pods' })],
  [
    'a missing namespace',
    'not-found',
    'SL1113',
    () => refused(404, 'NotFound', 'x', { name: 'ns', kind: 'namespaces' }),
  ],
  [
    'an unknown path',
    'not-served',
    'SL1112',
    () => errorFromResponse({ status: 404, body: '404 page not found\n' }, request),
  ],
  ['a taken name', 'already-exists', 'SL1114', () => refused(409, 'AlreadyExists', 'x')],
  ['a stale version', 'conflict', 'SL1110', () => refused(409, 'Conflict', 'cannot: the object has been modified')],
  [
    'a broken schema',
    'invalid',
    'SL1111',
    () => refused(422, 'Invalid', 'x', { causes: [{ field: 'spec', message: 'no' }] }),
  ],
  ['an old version', 'expired', 'SL1119', () => refused(410, 'Expired', 'too old resource version')],
  ['too many requests', 'busy', 'SL1116', () => refused(429, 'TooManyRequests', 'slow down')],
  [
    'a missing right',
    'forbidden',
    'SL1108',
    () => refused(403, 'Forbidden', 'pods is forbidden: User "a" cannot list'),
  ],
  ['a failing server', 'failing', 'SL1117', () => refused(500, 'InternalError', 'etcdserver: request timed out')],
  [
    'a server that starts',
    'failing',
    'SL1117',
    () => errorFromResponse({ status: 503, body: 'apiserver not ready' }, request),
  ],
  ['too big', 'rejected', 'SL1121', () => refused(413, 'RequestEntityTooLarge', 'limit is 3145728')],
  [
    'a dead webhook',
    'webhook',
    'SL1115',
    () =>
      refused(
        500,
        'InternalError',
        'Internal error occurred: failed calling webhook "pools.metallb.io": failed to call webhook: Post "https://127.0.0.1:1/x?timeout=10s": dial tcp 127.0.0.1:1: connect: connection refused',
      ),
  ],
  [
    'a webhook that says no',
    'denied',
    'SL1111',
    () => refused(403, 'Forbidden', 'admission webhook "pools.metallb.io" denied the request: overlaps'),
  ],
  [
    'a namespace on its way out',
    'terminating',
    'SL1127',
    () =>
      refused(403, 'Forbidden', 'pods "a" is forbidden: namespace is being terminated', {
        causes: [{ reason: 'NamespaceTerminating', message: 'namespace openstack2 is being terminated' }],
      }),
  ],
]

describe('an error response', () => {
  it.each(cases)('%s is %s (%s)', (_, kind, code, make) => {
    const error = make()
    expect(error.kind).toBe(kind)
    expect(error.findings.map((finding) => finding.code)).toEqual([code])
    expect(error.findings[0]?.message).not.toMatch(/undefined|\[object/)
  })

  it('names the manager and the path of each field conflict', () => {
    const error = refused(409, 'Conflict', 'Apply failed with 2 conflicts', {
      causes: [
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "kubectl-edit" using v1',
          field: '.spec.addresses',
        },
        {
          reason: 'FieldManagerConflict',
          message: 'conflict with "operator" with subresource "status" using v1 at 2026-01-01T00:00:00Z',
          field: '.status.x',
        },
      ],
    })
    expect(error.kind).toBe('field-conflict')
    expect(error.conflicts).toEqual([
      { manager: 'kubectl-edit', path: '.spec.addresses' },
      { manager: 'operator', path: '.status.x', subresource: 'status' },
    ])
    expect(error.findings[0]).toMatchObject({ code: 'SL1109', owners: ['kubectl-edit', 'operator'] })
    expect(error.message).toContain('.spec.addresses belongs to kubectl-edit')
  })

  it('offers to take over the fields of a network attachment only with its danger', () => {
    const causes = [{ reason: 'FieldManagerConflict', message: 'conflict with "kubectl"', field: '.spec.config' }]
    const body = statusObject(409, 'Conflict', 'x', { causes })
    const subject = 'NetworkAttachmentDefinition openstack/internalapi'
    const [conflict] = errorFromResponse({ status: 409, body }, { ...request, subject }).findings
    expect(conflict?.remedy).toMatch(/keep: \[attachments\].*only when no pod of the network runs/)
  })

  it('has the object and the field that the server named as its location', () => {
    const object = {
      apiVersion: 'metallb.io/v1beta1',
      kind: 'IPAddressPool',
      namespace: 'metallb-system',
      name: 'a',
    }
    const body = statusObject(422, 'Invalid', 'x', { causes: [{ field: 'spec.addresses', message: 'no' }] })
    const error = errorFromResponse({ status: 422, body }, { ...request, object })
    expect(error.findings[0]?.where).toEqual({ ...object, path: 'spec.addresses' })
  })

  it('finds unknown fields in both wordings of the server', () => {
    const strict = refused(400, 'BadRequest', 'strict decoding error: unknown field "spec.a", unknown field "spec.b"')
    expect(strict.causes.map((cause) => cause.path)).toEqual(['spec.a', 'spec.b'])
    const applied = refused(
      500,
      '',
      'failed to create typed patch object (ns/a; metallb.io/v1beta1, Kind=IPAddressPool): errors:\n  .spec.a: field not declared in schema\n  .spec.b[0].c: expected string, got 2',
    )
    expect(applied).toMatchObject({ kind: 'invalid', retryable: 'never' })
    expect(applied.causes).toEqual([
      { path: 'spec.a', message: 'unknown field "spec.a"' },
      { path: 'spec.b[0].c', message: 'expected string, got 2' },
    ])
  })

  it('in an ERROR event of a watch is read by its code', () => {
    expect(errorFromWatch(statusObject(410, 'Expired', 'too old'), request).kind).toBe('expired')
    expect(errorFromWatch('nonsense', request).kind).toBe('failing')
  })

  it('of a webhook that refuses does not advise to look at the schema', () => {
    const remedy = (reason: string) => refused(403, 'Forbidden', reason).findings[0]?.remedy
    expect(remedy('admission webhook "pools.metallb.io" denied the request: overlaps')).toContain('`stackloom verify`')
    expect(remedy('unknown')).not.toContain('stackloom')
  })

  it('exits with 2 when the cluster could not be reached, with 1 when it refused', () => {
    expect(refused(503, '', 'down').exitCode).toBe(2)
    expect(refused(403, 'Forbidden', 'no').exitCode).toBe(1)
  })

  it('is distinguished by kind', () => {
    const error = refused(410, 'Expired', 'x')
    expect(isApiError(error)).toBe(true)
    expect(isApiError(error, 'conflict', 'expired')).toBe(true)
    expect(isApiError(error, 'conflict')).toBe(false)
    expect(isApiError(new Error('x'))).toBe(false)
  })

  it('shows one line of a page that is not from an API server', () => {
    const error = errorFromResponse({ status: 502, body: `<html>\n${'x'.repeat(1000)}</html>` }, request)
    expect(error.message.length).toBeLessThan(300)
    expect(error.message).not.toContain('\n')
  })
})
