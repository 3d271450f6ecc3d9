import { describe, expect, it } from 'vitest'
import { proxyFor } from './proxy.ts'

const server = 'https://api.lab.example:6443'
const HTTPS_PROXY = 'http://proxy.example:3128'

describe('proxyFor', () => {
  it('prefers the proxy of the kubeconfig over the environment', () => {
    expect(proxyFor(server, 'http://own:1', { HTTPS_PROXY, NO_PROXY: '*' })).toBe('http://own:1')
    expect(proxyFor(server, undefined, { HTTPS_PROXY })).toBe(HTTPS_PROXY)
    expect(proxyFor(server, undefined, { https_proxy: 'proxy.example:3128' })).toBe(HTTPS_PROXY)
    expect(proxyFor('http://api.lab.example', undefined, { HTTPS_PROXY })).toBeUndefined()
    expect(proxyFor(server, undefined, {})).toBeUndefined()
  })

  it.each([
    ['*', server, true],
    ['lab.example', server, true],
    ['.lab.example', server, true],
    ['*.lab.example', server, true],
    ['api.lab.example', server, true],
    ['.api.lab.example', server, false],
    ['ab.example', server, false],
    ['api.lab.example:6443', server, true],
    ['api.lab.example:443', server, false],
    ['other, lab.example ,', server, true],
    ['10.0.0.0/8', 'https://10.1.2.3:6443', true],
    ['10.0.0.0/8', 'https://11.1.2.3:6443', false],
    ['10.0.0.0/33', 'https://10.1.2.3:6443', false],
    ['10.1.2.3', 'https://10.1.2.3:6443', true],
    ['fd00::/8', 'https://[fd00::1]:6443', true],
    ['fd00::1', 'https://[fd00::1]:6443', true],
    ['[fd00::1]:6443', 'https://[fd00::1]:6443', true],
    ['', server, false],
  ])('with NO_PROXY=%s and %s connects directly: %s', (NO_PROXY, url, direct) => {
    expect(proxyFor(url, undefined, { HTTPS_PROXY, NO_PROXY })).toBe(direct ? undefined : HTTPS_PROXY)
  })

  it('never uses a proxy for loopback', () => {
    for (const host of ['localhost', '127.0.0.1', '127.0.1.1', '[::1]']) {
      expect(proxyFor(`https://${host}:6443`, undefined, { HTTPS_PROXY })).toBeUndefined()
    }
  })

  it('rejects an invalid proxy without showing its password', () => {
    for (const proxy of ['ftp://user:hunter2@proxy.example', 'http://user:hunter2@:::']) {
      try {
        proxyFor(server, proxy, {})
        expect.unreachable()
      } catch (thrown) {
        expect(thrown).toMatchObject({ findings: [{ code: 'SL1122' }] })
        expect(String(thrown)).not.toContain('hunter2')
      }
    }
  })
})
