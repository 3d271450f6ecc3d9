/** Renders the files of a control host that belong to no service: haproxy, RabbitMQ, names, certificates. Pure. */
import { createHash, randomBytes } from 'node:crypto'
import { quoteShellWord } from '../../errors/shell-words.ts'
import type { CloudDefinition } from './cloud-definition.ts'
import type { HostFile, LocalSecrets } from './service-files.ts'

export const CERTIFICATE = '/etc/haproxy/stackloom.pem'

/** VIPs and Routes lead to the services, which listen on loopback; with TLS it ends here, as in the httpd of upstream's pods. */
export function haproxyFile({ frontends, routes, tls }: CloudDefinition): HostFile {
  const secure = tls ? ` ssl crt ${CERTIFICATE}` : ''
  const bind = (address: string, port: number): string => `${address.includes(':') ? `[${address}]` : address}:${port}`
  const listeners = frontends.map(
    ({ address, port, localPort, mode }) => `listen ${mode}-${address.replaceAll(':', '.')}-${port}
  mode ${mode}
  bind ${bind(address, port)}${secure}
${mode === 'http' ? forwarded(tls) : ''}  server local 127.0.0.1:${localPort}
`,
  )
  const router = routes.length === 0 ? '' : routerText(routes, tls, secure)
  return {
    path: '/etc/haproxy/haproxy.cfg',
    text: `global
  maxconn 2000
  nbthread 1
defaults
  timeout connect 10s
  timeout client 3600s
  timeout server 3600s
${listeners.join('')}${router}`,
  }
}

function forwarded(tls: boolean): string {
  return tls ? '  http-request set-header X-Forwarded-Proto https\n' : ''
}

function routerText(routes: CloudDefinition['routes'], tls: boolean, secure: string): string {
  const backends = [...new Map(routes.map((route) => [route.host, route])).values()]
  return `frontend router
  mode http
  bind :${tls ? 443 : 80}${secure}
${forwarded(tls)}${backends.map(({ host, localPort }) => `  use_backend local-${localPort} if { hdr(host),field(1,:) -i ${host} }\n`).join('')}${backends.map(({ localPort }) => `backend local-${localPort}\n  mode http\n  server local 127.0.0.1:${localPort}\n`).join('')}`
}

/** One broker serves all cells, each with a virtual host of its own. */
export function rabbitmqFiles({ cells }: CloudDefinition, { messageBus }: LocalSecrets): readonly HostFile[] {
  const vhosts = ['/', ...cells]
  const all = { configure: '.*', write: '.*', read: '.*' }
  const definitions = {
    users: [{ name: 'openstack', password_hash: hashPassword(messageBus), tags: 'administrator' }],
    vhosts: vhosts.map((name) => ({ name })),
    permissions: vhosts.map((vhost) => ({ user: 'openstack', vhost, ...all })),
  }
  return [
    {
      path: '/etc/rabbitmq/rabbitmq-env.conf',
      group: 'rabbitmq',
      // Without waiting in loops, which costs a processor while nothing happens.
      text: `NODENAME=rabbit@localhost
NODE_IP_ADDRESS=127.0.0.1
RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS="+sbwt none +sbwtdcpu none +sbwtdio none -kernel inet_dist_use_interface {127,0,0,1}"
export ERL_EPMD_ADDRESS=127.0.0.1
`,
    },
    {
      path: '/etc/rabbitmq/rabbitmq.conf',
      group: 'rabbitmq',
      text: 'load_definitions = /etc/rabbitmq/definitions.json\nlog.file = false\nlog.console = true\nlog.console.level = warning\n',
    },
    { path: '/etc/rabbitmq/definitions.json', group: 'rabbitmq', text: `${JSON.stringify(definitions)}\n` },
  ]
}

/** The format of RabbitMQ's default hashing: four random bytes, then SHA-256 over them and the password. */
function hashPassword(password: string, salt: Buffer = randomBytes(4)): string {
  const hash = createHash('sha256').update(salt).update(password, 'utf8').digest()
  return Buffer.concat([salt, hash]).toString('base64')
}

/** `/etc/hosts`: a name without an address is that of the host itself. */
export function hostsFile(host: string, names: CloudDefinition['names']): HostFile {
  const lines = names.map(({ name, address }) => `${address ?? '127.0.0.1'} ${name}\n`)
  return { path: '/etc/hosts', text: `127.0.0.1 localhost ${host}\n${[...new Set(lines)].join('')}` }
}

/** Shell lines that add an authority to those of Debian, for all programs of a host. */
export function trustAuthority(certificate: string): string {
  const file = '/usr/local/share/ca-certificates/cloud.crt'
  return `${writeScript([{ path: file, text: certificate }])}bundle=/etc/ssl/certs/ca-certificates.crt
[ -e "$bundle.debian" ] || cp "$bundle" "$bundle.debian"
cat "$bundle.debian" ${file} >"$bundle"
`
}

/** A script that writes the files; it is passed as input, because they contain passwords. No text can end its document. */
export function writeScript(files: readonly HostFile[]): string {
  return files
    .map(({ path, text, group }) => {
      const file = quoteShellWord(path)
      const mode = group === undefined ? '0644' : '0640'
      return `mkdir -p "$(dirname ${file})"
base64 -d >${file} <<END
${Buffer.from(text.endsWith('\n') ? text : `${text}\n`).toString('base64')}
END
chown root:${group ?? 'root'} ${file}
chmod ${mode} ${file}
`
    })
    .join('')
}
