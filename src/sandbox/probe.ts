/** Whether a task is ready: it answers on its port of loopback. */

import { readFile } from 'node:fs/promises'
import { request } from 'node:https'
import { connect } from 'node:net'
import path from 'node:path'
import type { ReadinessProbe } from './supervisor-spec.ts'

/** One look. Undefined when ready, otherwise what was seen. */
export type ProbeOnce = () => Promise<string | undefined>

export async function createProbe(probe: ReadinessProbe, pki: string): Promise<ProbeOnce> {
  if (probe.kind === 'none') return async () => undefined
  if (probe.kind === 'tcp') return () => probeTcp(probe.port)
  const [ca, cert, key] = await Promise.all(
    ['ca.crt', `${probe.pair}.crt`, `${probe.pair}.key`].map((name) => readFile(path.join(pki, name))),
  )
  const options = {
    host: '127.0.0.1',
    port: probe.port,
    path: probe.path,
    ca,
    cert,
    key,
    agent: false,
    timeout: 5000,
  }
  return () =>
    new Promise((resolve) => {
      const asked = request(options, (response) => {
        response.resume()
        response.once('error', () => undefined)
        const { statusCode } = response
        resolve(statusCode === 200 ? undefined : `${probe.path} answers ${statusCode}`)
      })
      asked.once('timeout', () => asked.destroy(new Error('no answer')))
      asked.once('error', (error) => resolve(error.message))
      asked.end()
    })
}

function probeTcp(port: number): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('connect', () => {
      socket.destroy()
      resolve(undefined)
    })
    socket.once('error', (error) => resolve(error.message))
  })
}
