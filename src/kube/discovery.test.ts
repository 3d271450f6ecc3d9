/** An API server whose discovery of one group fails, as with an aggregated API that is down, over real sockets. */
import { afterEach, describe, expect, it } from 'vitest'
import { instantClock } from '../../test/instant-clock.ts'
import { type RequestScript, respondJson, startScriptedServer, statusObject } from '../../test/scripted-server.ts'
import { fixedCredential } from './credential.ts'
import { createDiscovery, type Discovery } from './discovery.ts'
import { openTransport } from './transport.ts'

const open: { readonly close: () => Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((resource) => resource.close()))
})

async function discover(script: RequestScript): Promise<{ discovery: Discovery; closeTransport: () => Promise<void> }> {
  const server = await startScriptedServer(script)
  const credential = fixedCredential('an anonymous user', { headers: {} })
  const access = { server: server.url, context: undefined, namespace: 'default', tls: {}, proxy: undefined, credential }
  const transport = openTransport(access, { clock: instantClock() })
  open.push(transport, server)
  return { discovery: createDiscovery(transport), closeTransport: () => transport.close() }
}

const broken = { apiVersion: 'broken.example.com/v1', kind: 'Thing' }
const pod = { apiVersion: 'v1', kind: 'Pod' }
const pods = { resources: [{ name: 'pods', kind: 'Pod', namespaced: true, verbs: ['list'] }] }

describe('the discovery of a group that fails', () => {
  it('is an error of its caller; the kinds of other groups are found', async () => {
    const { discovery } = await discover(({ path }, response) =>
      path === '/api/v1'
        ? respondJson(response, pods)
        : respondJson(response, statusObject(503, 'ServiceUnavailable', 'no endpoints'), 503),
    )
    await expect(discovery.resource(broken)).rejects.toThrow()
    expect(await discovery.resource(pod)).toMatchObject({ plural: 'pods' })
  })

  it('is tried again by the next caller', async () => {
    let isDown = true
    const { discovery } = await discover((_, response) =>
      isDown ? respondJson(response, {}) : respondJson(response, pods),
    )
    await expect(discovery.resource(pod)).rejects.toThrow('no list of resources')
    isDown = false
    expect(await discovery.resource(pod)).toMatchObject({ plural: 'pods' })
  })

  // Vitest fails a run with an error that nothing handles; the program would end.
  it('is no unhandled error when its only caller stopped waiting', async () => {
    const control = new AbortController()
    let answer = (): void => {}
    const asked = new Promise<void>((resolve) => void (answer = resolve))
    const { discovery, closeTransport } = await discover(async (_, response) => {
      answer()
      await new Promise((resolve) => setTimeout(resolve, 50))
      respondJson(response, { resources: 7 })
    })
    const waiting = discovery.resource(broken, control.signal)
    await asked
    control.abort(new Error('the operator stops'))
    await expect(waiting).rejects.toThrow('the operator stops')
    await new Promise((resolve) => setTimeout(resolve, 200))
    await closeTransport()
  })

  it.each([null, 7, [null], [7], [{}], [{ name: 7, kind: 'Pod' }]])(
    'is an error of the server with the list %j',
    async (resources) => {
      const { discovery } = await discover((_, response) => respondJson(response, { resources }))
      await expect(discovery.resource(pod)).rejects.toMatchObject({ findings: [{ code: expect.any(String) }] })
    },
  )
})
