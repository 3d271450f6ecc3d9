import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { manualClock } from '../../test/manual-clock.ts'
import { type Authority, type Credentials, createAuthority } from '../pki/authority.ts'
import { type AccessOptions, type ClusterAccess, loadAccess } from './cluster-access.ts'

let folder: string
let authority: Authority
beforeAll(async () => {
  authority = await createAuthority({ commonName: 'ca' })
})
const base64 = (text: string): string => Buffer.from(text).toString('base64')
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'stackloom-kubeconfig-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const put = (name: string, content: unknown, mode = 0o600): string => {
  const file = path.join(folder, name)
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content))
  chmodSync(file, mode)
  return file
}

interface Parts {
  readonly cluster?: object
  readonly user?: object
  readonly context?: object
}

const kubeconfig = (name: string, parts: Parts = {}) => ({
  apiVersion: 'v1',
  kind: 'Config',
  'current-context': name,
  clusters: [{ name, cluster: { server: `https://${name}.example:6443`, ...parts.cluster } }],
  users: [{ name: `${name}-admin`, user: { token: `${name}-token`, ...parts.user } }],
  contexts: [{ name, context: { cluster: name, user: `${name}-admin`, ...parts.context } }],
})

const load = (options: Partial<AccessOptions> = {}): Promise<ClusterAccess> =>
  loadAccess({ env: { HOME: folder, PATH: process.env['PATH'] }, clock: manualClock(), ...options })

const authorization = async (access: ClusterAccess) => (await access.credential.current()).headers['authorization']

describe('loadAccess', () => {
  it('uses the current context of ~/.kube/config', async () => {
    put('.kube/config', kubeconfig('lab', { context: { namespace: 'openstack' } }))
    const access = await load()
    expect(access).toMatchObject({
      server: 'https://lab.example:6443',
      context: 'lab',
      namespace: 'openstack',
    })
    expect(await authorization(access)).toBe('Bearer lab-token')
    expect(access.credential.user).toBe('user lab-admin')
  })

  it('searches all files of KUBECONFIG, where the first one that defines a name wins', async () => {
    const first = put('a', kubeconfig('lab'))
    const second = put('b', {
      ...kubeconfig('prod'),
      clusters: [...kubeconfig('prod').clusters, { name: 'lab', cluster: { server: 'https://other' } }],
    })
    const env = {
      HOME: folder,
      KUBECONFIG: [first, path.join(folder, 'missing'), second].join(path.delimiter),
    }
    expect(await load({ env })).toMatchObject({ context: 'lab', server: 'https://lab.example:6443' })
    expect(await load({ env, context: 'prod', namespace: 'mine' })).toMatchObject({
      context: 'prod',
      namespace: 'mine',
    })
  })

  it('reads YAML, certificates in the file, and certificates beside the file', async () => {
    const ann = await authority.issue({ commonName: 'ann', uses: ['client'] })
    put('certs/ca.crt', authority.certificate)
    put('certs/a.key', ann.privateKey)
    const file = put(
      'config',
      `
current-context: lab
clusters: [{name: lab, cluster: {server: "https://lab.example:6443/", certificate-authority: certs/ca.crt, tls-server-name: api}}]
contexts: [{name: lab, context: {cluster: lab, user: ann}}]
users: [{name: ann, user: {client-certificate-data: ${base64(ann.certificate)}, client-key: certs/a.key, as: root, as-groups: [x, y]}}]
`,
    )
    const access = await load({ kubeconfig: file })
    expect(access.server).toBe('https://lab.example:6443')
    expect(access.tls).toEqual({ ca: authority.certificate, servername: 'api' })
    expect(await access.credential.current()).toEqual({
      certificate: ann.certificate,
      key: ann.privateKey,
      headers: { 'impersonate-user': 'root', 'impersonate-group': ['x', 'y'] },
    })
  })

  it('uses the proxy of the cluster, else that of the environment', async () => {
    const file = put('config', kubeconfig('lab', { cluster: { 'proxy-url': 'http://own:1' } }))
    expect((await load({ kubeconfig: file })).proxy).toBe('http://own:1')
    const plain = put('plain', kubeconfig('lab'))
    expect((await load({ kubeconfig: plain, env: { HTTPS_PROXY: 'http://env:1' } })).proxy).toBe('http://env:1')
  })

  it('uses the service account of the pod when there is no kubeconfig, and reads its token again', async () => {
    const serviceAccount = path.join(folder, 'sa')
    put('sa/token', 'one\n')
    put('sa/ca.crt', 'CA')
    put('sa/namespace', 'stackloom')
    const clock = manualClock()
    const env = { HOME: folder, KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
    const access = await load({ env, serviceAccount, clock })
    expect(access).toMatchObject({
      server: 'https://[fd00::1]:6443',
      namespace: 'stackloom',
      tls: { ca: 'CA' },
    })
    expect(await authorization(access)).toBe('Bearer one')
    put('sa/token', 'two\n')
    expect(await authorization(access)).toBe('Bearer one')
    clock.advance(61_000)
    expect(await authorization(access)).toBe('Bearer two')
  })
})

describe('the credential', () => {
  const exec = { command: 'false', interactiveMode: 'Never' }
  it.each([
    ['a token file before a token', { tokenFile: 'token', exec }, 'Bearer from-file'],
    ['a token before a plugin', { exec }, 'Bearer lab-token'],
    [
      'a password',
      { token: undefined, username: 'ann', password: 'x' },
      `Basic ${Buffer.from('ann:x').toString('base64')}`,
    ],
    [
      'a static OpenID token',
      { token: undefined, 'auth-provider': { name: 'oidc', config: { 'id-token': 'id' } } },
      'Bearer id',
    ],
  ])('is %s', async (_, user, expected) => {
    put('token', 'from-file')
    const file = put('config', kubeconfig('lab', { user }))
    expect(await authorization(await load({ kubeconfig: file }))).toBe(expected)
  })

  it('is read again from its files when the server rejects it', async () => {
    const [first, second] = await Promise.all(
      ['one', 'two'].map((commonName) => authority.issue({ commonName, uses: ['client'] })),
    )
    const renew = (pair: Credentials | undefined): void => {
      put('a.crt', pair?.certificate)
      put('a.key', pair?.privateKey)
    }
    renew(first)
    const user = { token: undefined, 'client-certificate': 'a.crt', 'client-key': 'a.key' }
    const { credential } = await load({ kubeconfig: put('config', kubeconfig('lab', { user })) })
    const used = await credential.current()
    expect(await credential.renew(used)).toBe(false)
    renew(second)
    expect(await credential.renew(used)).toBe(true)
    expect((await credential.current()).certificate).toBe(second?.certificate)
  })
})

describe('a kubeconfig that cannot be used', () => {
  const cases: readonly (readonly [string, string, RegExp, unknown])[] = [
    ['is not YAML', 'SL1103', /not YAML: .*\(line 2\)/, 'clusters:\n  token: hunter2: x\n'],
    ['is a list', 'SL1103', /not a mapping/, '[1]'],
    ['is another kind', 'SL1103', /kind is not Config/, { kind: 'Pod' }],
    ['names no cluster', 'SL1103', /names no cluster/, ''],
    ['has no current context', 'SL1103', /no current-context/, { ...kubeconfig('lab'), 'current-context': '' }],
    ['has clusters that are no list', 'SL1103', /clusters is not a list/, { clusters: {} }],
    ['has an entry without a name', 'SL1103', /users\[0\] has no name/, { ...kubeconfig('lab'), users: [{}] }],
    [
      'has a dangling cluster',
      'SL1103',
      /names the cluster "nope"/,
      kubeconfig('lab', { context: { cluster: 'nope' } }),
    ],
    ['has a dangling user', 'SL1103', /names the user "nope"/, kubeconfig('lab', { context: { user: 'nope' } })],
    ['has no server', 'SL1103', /no server/, kubeconfig('lab', { cluster: { server: '' } })],
    [
      'has a password in the URL of the server',
      'SL1103',
      /holds a user or a password/,
      kubeconfig('lab', { cluster: { server: 'https://ann:hunter2@lab' } }),
    ],
    ['has a server that is no URL', 'SL1103', /not an http/, kubeconfig('lab', { cluster: { server: 'lab:6443' } })],
    [
      'lacks its CA file',
      'SL1103',
      /cannot read .*ca.crt: no such file/,
      kubeconfig('lab', { cluster: { 'certificate-authority': 'ca.crt' } }),
    ],
    [
      'has a damaged CA, which Node would drop without a word',
      'SL1103',
      /certificate-authority: not usable/,
      kubeconfig('lab', {
        cluster: {
          'certificate-authority-data': base64('-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'),
        },
      }),
    ],
    [
      'has damaged certificate data',
      'SL1103',
      /client certificate and key: not usable/,
      kubeconfig('lab', {
        user: { 'client-certificate-data': 'aHVudGVyMg==', 'client-key-data': 'aHVudGVyMg==' },
      }),
    ],
    [
      'has a certificate without a key',
      'SL1103',
      /one of them is missing/,
      kubeconfig('lab', { user: { 'client-key-data': Buffer.from('-----BEGIN').toString('base64') } }),
    ],
    [
      'uses a provider of the past',
      'SL1103',
      /auth-provider "gcp"/,
      kubeconfig('lab', { user: { token: '', 'auth-provider': { name: 'gcp' } } }),
    ],
  ]
  it.each(cases)('because it %s is one finding (%s)', async (_, code, message, content) => {
    const file = put('config', content)
    const error = await load({ kubeconfig: file }).then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown as { findings: { code: string; message: string }[]; exitCode: number },
    )
    expect(error.findings.map((finding) => finding.code)).toEqual([code])
    expect(error.findings[0]?.message).toMatch(message)
    expect(error.exitCode).toBe(2)
    expect(JSON.stringify(error)).not.toMatch(/hunter2|lab-token/)
  })

  it('because its key belongs to another certificate is reported', async () => {
    const [ann, bob] = await Promise.all(
      ['ann', 'bob'].map((commonName) => authority.issue({ commonName, uses: ['client'] })),
    )
    const user = {
      'client-certificate-data': base64(ann?.certificate ?? ''),
      'client-key-data': base64(bob?.privateKey ?? ''),
    }
    await expect(load({ kubeconfig: put('config', kubeconfig('lab', { user })) })).rejects.toMatchObject({
      findings: [{ code: 'SL1103', message: expect.stringContaining('key values mismatch') }],
    })
  })

  it('because it is empty although it was named does not fall back to the pod', async () => {
    const env = { HOME: folder, KUBERNETES_SERVICE_HOST: '127.0.0.1' }
    await expect(load({ kubeconfig: put('config', ''), env })).rejects.toMatchObject({
      findings: [{ code: 'SL1103' }],
    })
  })

  it.each([
    ['a b/c@d', '443'],
    ['a@b', '443'],
    ['127.0.0.1', '99999999'],
    ['127.0.0.1/x?', '443'],
  ])('because the environment of the pod names %j and port %j is reported', async (host, port) => {
    const env = { HOME: folder, KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port }
    await expect(load({ env })).rejects.toMatchObject({ findings: [{ code: 'SL1105' }] })
  })

  it('because it is missing is reported, with the files that were tried', async () => {
    await expect(load({ kubeconfig: path.join(folder, 'nope') })).rejects.toMatchObject({
      findings: [{ code: 'SL1002' }],
    })
    await expect(load()).rejects.toMatchObject({ findings: [{ code: 'SL1105' }] })
  })

  it('because the context does not exist is reported with the closest one', async () => {
    const file = put('config', kubeconfig('production'))
    await expect(load({ kubeconfig: file, context: 'prodution' })).rejects.toMatchObject({
      findings: [{ code: 'SL1104', message: expect.stringContaining('did you mean "production"') }],
    })
  })
})

describe('a credential plugin', () => {
  const answer = (status: object) =>
    JSON.stringify({ apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status })

  /** A plugin that counts its runs, stores its input, and prints the file `answer`. */
  function plugin(script = 'cat answer'): string {
    const body = `#!/bin/sh\ncd "$(dirname "$0")"\necho run >> runs\necho "$KUBERNETES_EXEC_INFO" > info\necho "$1 $OWN" > args\n${script}\n`
    put('plugin', body, 0o700)
    const exec = {
      apiVersion: 'client.authentication.k8s.io/v1',
      command: './plugin',
      args: ['get-token'],
      env: [{ name: 'OWN', value: 'set' }],
      provideClusterInfo: true,
      interactiveMode: 'Never',
      installHint: 'install it from the shelf',
    }
    return put('config', kubeconfig('lab', { user: { token: undefined, exec } }))
  }
  const runs = () => readFileSync(path.join(folder, 'runs'), 'utf8').trim().split('\n').length

  it('runs once for many requests, with its arguments and the cluster, and again when its token expires', async () => {
    const clock = manualClock()
    const file = plugin()
    const expires = new Date(clock.now() + 60_000).toISOString()
    put('answer', answer({ token: 'one', expirationTimestamp: expires }))
    const access = await load({ kubeconfig: file, clock })
    const all = await Promise.all([1, 2, 3].map(() => authorization(access)))
    expect(all).toEqual(['Bearer one', 'Bearer one', 'Bearer one'])
    expect(runs()).toBe(1)
    expect(readFileSync(path.join(folder, 'args'), 'utf8')).toBe('get-token set\n')
    expect(JSON.parse(readFileSync(path.join(folder, 'info'), 'utf8'))).toMatchObject({
      kind: 'ExecCredential',
      spec: { interactive: false, cluster: { server: 'https://lab.example:6443' } },
    })
    put('answer', answer({ token: 'two' }))
    clock.advance(55_000)
    expect(await authorization(access)).toBe('Bearer two')
    expect(runs()).toBe(2)
  })

  it('runs again when the server rejects its token, and reports whether that helped', async () => {
    const file = plugin()
    put('answer', answer({ token: 'one' }))
    const { credential } = await load({ kubeconfig: file })
    const used = await credential.current()
    expect(await credential.renew(used)).toBe(false)
    put('answer', answer({ token: 'two' }))
    expect(await Promise.all([credential.renew(used), credential.renew(used)])).toEqual([true, true])
    expect((await credential.current()).headers['authorization']).toBe('Bearer two')
    expect(runs()).toBe(3)
  })

  it('may return a client certificate', async () => {
    const file = plugin()
    put('answer', answer({ clientCertificateData: 'CERT', clientKeyData: 'KEY' }))
    expect(await (await load({ kubeconfig: file })).credential.current()).toMatchObject({
      certificate: 'CERT',
      key: 'KEY',
    })
  })

  it.each([
    [
      'fails',
      'echo "sign in first: eyJhbGciOiJSUzI1NiIsImtpZCI6IjEifQ.e30" >&2; exit 3',
      /exit code 3: sign in first: …/,
    ],
    ['prints no JSON', 'echo hunter2', /not JSON/],
    ['prints something else', 'echo "{}"', /not an ExecCredential/],
    ['prints no credential', `echo '{"kind": "ExecCredential", "status": {}}'`, /neither a token/],
    ['never ends', 'exec sleep 100', /no output within 0.3 s/],
  ])('that %s is one finding with the hint of the kubeconfig', async (_, script, message) => {
    const { credential } = await load({ kubeconfig: plugin(script), pluginTimeoutMs: 300 })
    const error = await credential.current().then(
      () => expect.unreachable(),
      (thrown: unknown) => thrown as { findings: { code: string; message: string; remedy: string }[] },
    )
    expect(error.findings[0]).toMatchObject({ code: 'SL1106', remedy: 'install it from the shelf' })
    expect(error.findings[0]?.message).toMatch(message)
    expect(JSON.stringify(error)).not.toMatch(/hunter2|eyJ/)
  })

  it('that does not exist is reported as not found', async () => {
    const file = put(
      'config',
      kubeconfig('lab', { user: { token: undefined, exec: { command: 'no-such-plugin-here' } } }),
    )
    const { credential } = await load({ kubeconfig: file })
    await expect(credential.current()).rejects.toMatchObject({
      findings: [{ code: 'SL1106', message: expect.stringContaining('not found') }],
    })
  })
})
