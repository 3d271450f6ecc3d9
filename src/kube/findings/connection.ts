/** SL11xx: the connection to an API server: kubeconfig, trust, credentials, proxies. Its errors: `api-server.ts`. */
import { problem } from '../../errors/finding.ts'

export const serverUnreachable = problem<{ server: string; reason: string }>({
  code: 'SL1100',
  severity: 'error',
  title: 'The API server cannot be reached',
  message: ({ server, reason }) => `no response from ${server}: ${reason}`,
  remedy: ({ server }) =>
    `check that the cluster runs and that this machine can reach ${server}; --context chooses another cluster`,
  description: `The connection was refused, interrupted or never made, and retries did not help. A cluster that is starting
responds after a minute; a wrong address, a firewall or a missing VPN does not go away. \`HTTPS_PROXY\` and \`NO_PROXY\` are
honoured: a proxy that should not be used for this server is a common cause.`,
  example: { server: 'https://api.lab.example:6443', reason: 'connection refused' },
})

export const serverNotTrusted = problem<{ server: string; reason: string }>({
  code: 'SL1101',
  severity: 'error',
  title: "The API server's certificate is not trusted",
  message: ({ server, reason }) => `the certificate of ${server} is not trusted: ${reason}`,
  remedy: () => "put the cluster's CA into the kubeconfig (certificate-authority), or its name into tls-server-name",
  description: `The server's certificate is not signed by the CA of the kubeconfig, or is issued for another name. Either the
kubeconfig belongs to an earlier cluster at this address, or the connection is intercepted: no credential was sent.`,
  example: { server: 'https://api.lab.example:6443', reason: 'self-signed certificate in certificate chain' },
})

export const certificateExpired = problem<{ whose: string; server: string; since: string | undefined }>({
  code: 'SL1102',
  severity: 'error',
  title: 'A certificate has expired',
  message: ({ whose, server, since }) =>
    `${whose} for ${server} has expired${since === undefined ? '' : ` (valid until ${since})`}`,
  remedy: ({ whose }) =>
    whose.startsWith('the server')
      ? "renew the API server's certificate, or correct this machine's clock"
      : 'fetch a new kubeconfig from the cluster, or sign in again',
  description: `Certificates of clusters and of kubeconfigs are valid for a year or less. A cluster that was off at its renewal
date starts with expired ones. A wrong clock on this machine looks the same.`,
  example: {
    whose: 'the client certificate of user admin',
    server: 'https://api.lab.example:6443',
    since: '2026-01-31T00:00:00Z',
  },
})

export const brokenKubeconfig = problem<{ file: string; reason: string }>({
  code: 'SL1103',
  severity: 'error',
  title: 'The kubeconfig is broken',
  message: ({ file, reason }) => `${file} is not a usable kubeconfig: ${reason}`,
  remedy: ({ file }) => `correct ${file}, or use another file with --kubeconfig`,
  description: `The file is not YAML, is incomplete, or refers to a cluster, user or file that does not exist. None of its
content is shown here, because it may contain credentials. \`kubectl config view\` prints it without the secrets.`,
  example: {
    file: '/home/ann/.kube/config',
    reason: 'context "lab" names the cluster "lab", which is missing',
  },
})

export const unknownContext = problem<{
  context: string
  known: readonly string[]
  nearest: string | undefined
}>({
  code: 'SL1104',
  severity: 'error',
  title: 'There is no such context',
  message: ({ context, nearest }) =>
    `the kubeconfig has no context "${context}"${nearest ? `; did you mean "${nearest}"?` : ''}`,
  remedy: ({ known }) =>
    known.length > 0 ? `choose one of: ${known.join(', ')}` : 'use another kubeconfig with --kubeconfig',
  description: `A context combines a cluster, a user and a namespace under one name. \`KUBECONFIG\` may list several files; they are
merged, and the first file that has a name wins.`,
  example: { context: 'labb', known: ['lab', 'prod'], nearest: 'lab' },
})

export const noCluster = problem<{ tried: readonly string[] }>({
  code: 'SL1105',
  severity: 'error',
  title: 'No cluster is configured',
  message: ({ tried }) => `no kubeconfig was found (tried ${tried.join(', ')}), and this is not a pod`,
  remedy: () => 'set KUBECONFIG, or use --kubeconfig; `stackloom sandbox start` starts a cluster on this machine',
  description: `Stackloom reads \`--kubeconfig\`, else the files of \`KUBECONFIG\`, else \`~/.kube/config\`, else the service
account of the pod that it runs in.`,
  example: { tried: ['/home/ann/.kube/config'] },
})

export const credentialPluginFailed = problem<{
  command: string
  reason: string
  hint: string | undefined
}>({
  code: 'SL1106',
  severity: 'error',
  title: 'The credential plugin of the kubeconfig failed',
  message: ({ command, reason }) => `the credential plugin ${command} returned no credential: ${reason}`,
  remedy: ({ command, hint }) => hint ?? `run ${command} manually, or sign in again`,
  description: `The user of this context gets its token from a program (\`users[].user.exec\`). The program is missing, failed,
took too long, or printed something that is not an ExecCredential. Its stdout is never shown.`,
  example: { command: 'oc-login', reason: 'not found in PATH', hint: undefined },
})

export const notSignedIn = problem<{ server: string; user: string }>({
  code: 'SL1107',
  severity: 'error',
  title: 'The API server does not accept the credential',
  message: ({ server, user }) => `${server} does not accept the credential of ${user}`,
  remedy: () => 'sign in again (`oc login`, or the plugin of your cloud), or use another --context',
  description: `The server responded 401: the token has expired or was revoked, or the kubeconfig belongs to another cluster.
A credential that can be renewed (token file, plugin) was renewed once before this was reported.`,
  example: { server: 'https://api.lab.example:6443', user: 'user admin' },
})

export const unusableProxy = problem<{ proxy: string; reason: string }>({
  code: 'SL1122',
  severity: 'error',
  title: 'The proxy cannot be used',
  message: ({ proxy, reason }) => `the proxy ${proxy} cannot be used: ${reason}`,
  remedy: () => 'correct proxy-url in the kubeconfig or HTTPS_PROXY, or list the server in NO_PROXY',
  description: `\`proxy-url\` of the cluster in the kubeconfig takes precedence over \`HTTPS_PROXY\`; \`NO_PROXY\` excludes servers.
Schemes: http, https, socks5.`,
  example: { proxy: 'ftp://proxy.example', reason: 'the scheme ftp is not supported' },
})
