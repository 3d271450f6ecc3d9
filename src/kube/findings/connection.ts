/** SL11xx: the connection to an API server: kubeconfig, trust, credentials, proxies. Its errors: `api-server.ts`. */
import { problem } from '../../errors/finding.ts'

export const serverUnreachable = problem<{ server: string; reason: string }>({
  code: 'SL1100',
  severity: 'error',
  message: ({ server, reason }) => `no response from ${server}: ${reason}`,
  remedy: ({ server }) =>
    `check that the cluster runs and that this machine can reach ${server}; --context chooses another cluster`,
})

export const serverNotTrusted = problem<{ server: string; reason: string }>({
  code: 'SL1101',
  severity: 'error',
  message: ({ server, reason }) => `the certificate of ${server} is not trusted: ${reason}`,
  remedy: () => "put the cluster's CA into the kubeconfig (certificate-authority), or its name into tls-server-name",
})

export const certificateExpired = problem<{ whose: string; server: string; since: string | undefined }>({
  code: 'SL1102',
  severity: 'error',
  message: ({ whose, server, since }) =>
    `${whose} for ${server} has expired${since === undefined ? '' : ` (valid until ${since})`}`,
  remedy: ({ whose }) =>
    whose.startsWith('the server')
      ? "renew the API server's certificate, or correct this machine's clock"
      : 'fetch a new kubeconfig from the cluster, or sign in again',
})

export const brokenKubeconfig = problem<{ file: string; reason: string }>({
  code: 'SL1103',
  severity: 'error',
  message: ({ file, reason }) => `${file} is not a usable kubeconfig: ${reason}`,
  remedy: ({ file }) => `correct ${file}, or use another file with --kubeconfig`,
})

export const unknownContext = problem<{
  context: string
  known: readonly string[]
  nearest: string | undefined
}>({
  code: 'SL1104',
  severity: 'error',
  message: ({ context, nearest }) =>
    `the kubeconfig has no context "${context}"${nearest ? `; did you mean "${nearest}"?` : ''}`,
  remedy: ({ known }) =>
    known.length > 0 ? `choose one of: ${known.join(', ')}` : 'use another kubeconfig with --kubeconfig',
})

export const noCluster = problem<{ tried: readonly string[] }>({
  code: 'SL1105',
  severity: 'error',
  message: ({ tried }) => `no kubeconfig was found (tried ${tried.join(', ')}), and this is not a pod`,
  remedy: () => 'set KUBECONFIG, or use --kubeconfig; `stackloom sandbox start` starts a cluster on this machine',
})

export const credentialPluginFailed = problem<{
  command: string
  reason: string
  hint: string | undefined
}>({
  code: 'SL1106',
  severity: 'error',
  message: ({ command, reason }) => `the credential plugin ${command} returned no credential: ${reason}`,
  remedy: ({ command, hint }) => hint ?? `run ${command} manually, or sign in again`,
})

export const notSignedIn = problem<{ server: string; user: string }>({
  code: 'SL1107',
  severity: 'error',
  message: ({ server, user }) => `${server} does not accept the credential of ${user}`,
  remedy: () => 'sign in again (`oc login`, or the plugin of your cloud), or use another --context',
})

export const unusableProxy = problem<{ proxy: string; reason: string }>({
  code: 'SL1122',
  severity: 'error',
  message: ({ proxy, reason }) => `the proxy ${proxy} cannot be used: ${reason}`,
  remedy: () => 'correct proxy-url in the kubeconfig or HTTPS_PROXY, or list the server in NO_PROXY',
})
