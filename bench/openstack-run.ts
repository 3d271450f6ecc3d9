/**
 * Starts a cloud in a network of its own and prints how long it took to the first token and until all services answered, and
 * what it needs of memory; or two clouds with a compute host each, until both hypervisors are up; or does the steps to the
 * first token one after the other, as a person would with the same packages.
 *
 *     unshare --net node --import tsx bench/openstack-run.ts cloud|two-clouds|by-hand ROOT FOLDER
 */
import { readdir, readFile, readlink } from 'node:fs/promises'
import path from 'node:path'
import { describeExit, lastLines, runProcess, succeeded } from '../src/exec/process.ts'
import { createAuthority } from '../src/pki/authority.ts'
import { type Host, startHost } from '../src/sandbox/hosts/host.ts'
import { type Cloud, runCloud } from '../src/sandbox/openstack/cloud.ts'
import { CLOUD_PASSWORD, defineTestCloud } from '../test/cloud-definition.ts'

const VIP = '172.17.0.80'
const definition = defineTestCloud({
  network: 'internalapi',
  vip: VIP,
  clientAddress: '172.17.0.254',
  cells: ['cell1'],
})

const TOKEN = `curl -sf -o /dev/null -H 'Content-Type: application/json' -d '${JSON.stringify({
  auth: {
    identity: {
      methods: ['password'],
      password: { user: { name: 'admin', domain: { id: 'default' }, password: CLOUD_PASSWORD } },
    },
  },
})}' http://127.0.0.1:5000/v3/auth/tokens`

const HYPERVISOR = `token=$(curl -sf -o /dev/null -D - -H 'Content-Type: application/json' -d @/run/stackloom/login.json \\
  http://127.0.0.1:5000/v3/auth/tokens | sed -n 's/^x-subject-token: //Ip' | tr -d '\\r')
curl -sf -H "X-Auth-Token: $token" http://127.0.0.1:8774/v2.1/os-hypervisors | grep -q '"state": "up"'`

/** Every step waits for the one before, and the tables are created by keystone itself. */
const BY_HAND = `set -e
mkdir -p /run/mysqld && chown mysql: /run/mysqld
mariadbd --user=mysql >/dev/null 2>&1 &
memcached -u memcache -l 127.0.0.1 >/dev/null 2>&1 &
HOME=/var/lib/rabbitmq /usr/sbin/rabbitmq-server >/dev/null 2>&1 &
until mariadb-admin ping >/dev/null 2>&1; do sleep 0.2; done
mariadb -e "CREATE DATABASE keystone CHARACTER SET utf8mb3; GRANT ALL ON keystone.* TO keystone@'%' IDENTIFIED BY 'bench'"
mkdir -p /etc/keystone/keystone.conf.d
printf '[database]\\nconnection = mysql+pymysql://keystone:bench@127.0.0.1/keystone\\n' >/etc/keystone/keystone.conf.d/50.conf
as() { setpriv --reuid=keystone --regid=keystone --init-groups "$@"; }
as keystone-manage db_sync
for step in fernet_setup credential_setup; do
  as keystone-manage $step --keystone-user keystone --keystone-group keystone
done
OS_BOOTSTRAP_PASSWORD=${CLOUD_PASSWORD} as keystone-manage bootstrap --bootstrap-region-id regionOne \\
  --bootstrap-public-url http://127.0.0.1:5000/v3 --bootstrap-internal-url http://127.0.0.1:5000/v3
as uwsgi_python3 --http-socket 127.0.0.1:5000 --plugins python3 --master --processes 1 --threads 8 --lazy-apps \\
  --enable-threads --buffer-size 65535 --rem-header Content-Length --wsgi-file /usr/bin/keystone-wsgi-public >/dev/null 2>&1 &
until ${TOKEN}; do sleep 0.2; done
kill $(jobs -p)
`

const [what, root = '', folder = ''] = process.argv.slice(2)
const startedAt = performance.now()
const seconds = (): number => (performance.now() - startedAt) / 1000
const measurements = { cloud: measureCloud, 'two-clouds': measureTwoClouds, 'by-hand': measureByHand }
process.stdout.write(`${JSON.stringify(await measurements[what as keyof typeof measurements]())}\n`)
process.exit(0)

async function measureByHand() {
  const host = await startHost({ name: 'by-hand', root, folder: path.join(folder, 'by-hand') })
  const { exit, stderr } = await host.exec({ file: 'bash', args: ['-c', BY_HAND] }, { timeoutMs: 1_800_000 })
  const token = seconds()
  await host.stop()
  if (!succeeded(exit)) throw new Error(lastLines(stderr) || describeExit(exit))
  return { token }
}

async function measureCloud() {
  let token = 0
  const authority = await createAuthority({ commonName: 'bench' })
  const cloud = runCloud({ definition, root, folder, authority, onChange: () => undefined })
  while (cloud.state().kind !== 'running') {
    const { control } = cloud.hosts()
    if (token === 0 && control !== undefined && (await hasToken(control))) token = seconds()
    const state = cloud.state()
    if (state.kind === 'failed') throw new Error(`${state.doing}: ${state.reason}`)
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  const ready = seconds()
  const memoryMib = await measureMemory(cloud)
  await cloud.stop()
  return { token: token || ready, ready, memoryMib }
}

async function measureTwoClouds() {
  const authority = await createAuthority({ commonName: 'bench' })
  const clouds = ['openstack', 'openstack2'].map((namespace) => {
    const names = [{ name: `rabbitmq.${namespace}.svc`, address: VIP }]
    const own = { ...definition, namespace, names }
    const at = path.join(folder, namespace)
    const cloud = runCloud({ definition: own, folder: at, root, authority, onChange: () => undefined })
    cloud.setComputes([{ name: 'compute-0', cell: 'cell1', addresses: { internalapi: '172.17.0.100' } }])
    return cloud
  })
  for (const cloud of clouds) {
    while (!(await hasHypervisor(cloud))) await new Promise((resolve) => setTimeout(resolve, 500))
  }
  const ready = seconds()
  await Promise.all(clouds.map((cloud) => cloud.stop()))
  return { ready }
}

async function hasHypervisor(cloud: Cloud): Promise<boolean> {
  const state = cloud.state()
  if (state.kind === 'failed') throw new Error(`${state.doing}: ${state.reason}`)
  if (state.kind !== 'running') return false
  const { control } = cloud.hosts()
  const enter = [`--target=${control}`, '--mount', '--net', '--']
  return succeeded((await runProcess({ file: 'nsenter', args: [...enter, 'bash', '-c', HYPERVISOR] })).exit)
}

async function hasToken(control: number): Promise<boolean> {
  const { exit } = await runProcess({ file: 'nsenter', args: [`--target=${control}`, '--net', 'sh', '-c', TOKEN] })
  return succeeded(exit)
}

/** The proportional share of all processes of the control host. */
async function measureMemory(cloud: Cloud): Promise<number> {
  const { control } = cloud.hosts() as { readonly control: Host['pid'] }
  const namespace = await readlink(`/proc/${control}/ns/pid_for_children`)
  let kib = 0
  for (const id of (await readdir('/proc')).filter((entry) => /^\d+$/.test(entry))) {
    if ((await readlink(`/proc/${id}/ns/pid`).catch(() => undefined)) !== namespace) continue
    const text = await readFile(`/proc/${id}/smaps_rollup`, 'utf8').catch(() => '')
    kib += Number(/^Pss:\s+(\d+)/m.exec(text)?.[1] ?? 0)
  }
  return kib / 1024
}
