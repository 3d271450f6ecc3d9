/** Defines `dns` and `certificates`, which nodes and services need before a deployment. */
import { buildZones } from '../../bind.ts'
import { dnsNode, usesTls } from '../../lab.ts'
import { type LabStage, readInputs, run } from '../stage.ts'

export const dnsStage: LabStage = {
  name: 'dns',
  after: [{ stage: 'vms', why: 'BIND runs on a node' }],
  inputs: (context) => [
    ...readInputs(context, 'bind/named.conf', ...buildZones(context.lab).map((zone) => zone.path)),
    String(context.state().generations[dnsNode(context.lab).name] ?? 0),
  ],
  steps: async ({ lab, tools, folder }) => {
    const node = dnsNode(lab)
    return [
      run(tools.ssh(node, 'rm -rf /tmp/stackloom-bind'), 'remove old zone files'),
      run(tools.copyTo(node, [`${folder}/bind`], '/tmp/stackloom-bind'), `copy the zones to ${node.name}`),
      run(tools.ssh(node, 'sudo sh -s'), `BIND answers for ${lab.dns.domain}`, {
        inputFile: 'scripts/node/install-bind.sh',
      }),
    ]
  },
}

const FOLDER = 'kolla/certificates'
const CA = `${FOLDER}/ca/root.crt`
const LEAVES = ['haproxy.pem', 'haproxy-internal.pem', 'backend-cert.pem', 'rabbitmq-cert.pem'].map(
  (name) => `${FOLDER}/${name}`,
)

/** `lab render` issues and renews the certificates. This stage has another program verify them. */
export const certificatesStage: LabStage = {
  name: 'certificates',
  after: [{ stage: 'host', why: 'openssl verifies them' }],
  skipReason: (lab) => (usesTls(lab) ? undefined : 'the lab file turned TLS off'),
  inputs: (context) => readInputs(context, CA, ...LEAVES),
  steps: async () => [run(['openssl', 'verify', '-CAfile', CA, ...LEAVES], 'verify every certificate with openssl')],
}
