import { describe, expect, it } from 'vitest'
import { dataPlaneNode } from '../../../test/data-plane.ts'
import { HOST_KEYS_ANNOTATION } from '../kinds/data-plane.ts'
import { buildSshFiles, knownHostKeys, parseKnownHosts, parseRefusedKey } from './host-keys.ts'

const key = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIB'
const annotated = (text: string) => dataPlaneNode('n', {}, { [HOST_KEYS_ANNOTATION]: text })

describe('knownHostKeys', () => {
  it('reads an annotation as ssh-keyscan, known_hosts and public key files write keys', () => {
    const text = `# 192.0.2.1:22 SSH-2.0\n192.0.2.1 ${key}\n[192.0.2.1]:2222 ecdsa-sha2-nistp256 AAAA= me@here\n`
    expect(knownHostKeys(annotated(text))).toEqual([key, 'ecdsa-sha2-nistp256 AAAA='])
  })

  it('prefers the annotation over the status, and accepts no key for one that has none', () => {
    const recorded = { status: { sshHostKeys: ['ssh-rsa AAAA'] } }
    expect(knownHostKeys({ ...annotated(key), ...recorded })).toEqual([key])
    expect(knownHostKeys({ ...annotated('to do'), ...recorded })).toEqual([])
    expect(knownHostKeys({ ...dataPlaneNode('n'), ...recorded })).toEqual(['ssh-rsa AAAA'])
    expect(knownHostKeys(dataPlaneNode('n'))).toBeUndefined()
  })

  it('reads no certificate authority, which would accept any key that it signed', () => {
    expect(knownHostKeys(annotated(`@cert-authority * ${key}`))).toEqual([])
  })
})

describe('buildSshFiles', () => {
  it('accepts only the known keys of a host that has some, also of another type', () => {
    const hosts = new Map([
      ['a', '192.0.2.1'],
      ['b', '192.0.2.2'],
    ])
    const { config, knownHosts } = buildSshFiles(hosts, { a: [key] }, '/x/known_hosts')
    expect(config).toContain('Host 192.0.2.1\n  HostKeyAlias a\n  StrictHostKeyChecking yes\n')
    expect(config).toContain('Host 192.0.2.2\n  HostKeyAlias b\n  StrictHostKeyChecking accept-new\n')
    expect(knownHosts).toBe(`a ${key}\n`)
    expect(parseKnownHosts(`${knownHosts}b ssh-rsa AAAA\n`)).toEqual({ a: [key], b: ['ssh-rsa AAAA'] })
  })

  it.each(['x\n  ProxyCommand touch attacked', '*', '! x', '{{ lookup }}'])(
    'writes no address that could be another option or a pattern: %j',
    (address) => {
      const { config } = buildSshFiles(new Map([['a', address]]), { a: [key] }, '/x/known_hosts')
      expect(config).toMatch(/^Host \*\n {2}UserKnownHostsFile/)
      expect(config).not.toContain('ProxyCommand')
    },
  )

  it('does not attribute the key of an address that several hosts share', () => {
    const hosts = new Map([
      ['a', '192.0.2.1'],
      ['b', '192.0.2.1'],
    ])
    const { config } = buildSshFiles(hosts, { a: [key] }, '/x/known_hosts')
    expect(config).toContain('HostKeyAlias a+b\n  StrictHostKeyChecking accept-new')
    expect(parseKnownHosts(`a+b ${key}\n`)).toEqual({})
  })
})

describe('a host with a name that every object of JavaScript has', () => {
  it.each(['constructor', 'toString', '__proto__'])('has the keys of its own: %s', (name) => {
    const hosts = new Map([[name, '192.0.2.1']])
    expect(buildSshFiles(hosts, {}, '/x/known_hosts')).toMatchObject({
      config: expect.stringContaining(`HostKeyAlias ${name}\n  StrictHostKeyChecking accept-new`),
      knownHosts: '',
    })
    expect(Object.entries(parseKnownHosts(`${name} ${key}\n`))).toEqual([[name, [key]]])
  })
})

describe('parseRefusedKey', () => {
  it('names the key that the host sent', () => {
    const text =
      'The fingerprint for the ED25519 key sent by the remote host is\nSHA256:ab+/c.\nHost key verification failed.'
    expect(parseRefusedKey(text)).toEqual({ sent: 'ED25519 SHA256:ab+/c' })
    expect(parseRefusedKey('No RSA host key is known for a.\r\nHost key verification failed.')).toEqual({
      sent: 'a key of another type',
    })
    expect(parseRefusedKey('Connection refused')).toBeUndefined()
  })
})
