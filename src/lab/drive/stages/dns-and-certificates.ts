/** `dns` and `certificates`: what the nodes and the services rely on before anything is deployed. */

import { buildZones } from '../../bind.ts'
import { usesTls } from '../../lab.ts'
import { dnsNode } from '../../lima/netplan.ts'
import { type LabStage, readInputs } from '../stage.ts'
import { run } from '../step.ts'

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
      run(tools.ssh(node, 'rm -rf /tmp/stackloom-bind'), 'room for the zones'),
      run(tools.copyTo(node, [`${folder}/bind`], '/tmp/stackloom-bind'), `zones to ${node.name}`),
      run(tools.ssh(node, 'sudo sh -s'), `BIND answers for ${lab.dns.domain}`, {
        inputFile: 'scripts/node/install-bind.sh',
      }),
    ]
  },
}

const LEAVES = ['haproxy.pem', 'haproxy-internal.pem', 'backend-cert.pem', 'rabbitmq-cert.pem']
const FOLDER = 'kolla/certificates'

/** The tree has them already: rendering makes and renews them. Here another program has to agree. */
export const certificatesStage: LabStage = {
  name: 'certificates',
  after: [{ stage: 'host', why: 'openssl judges them' }],
  skipReason: (lab) => (usesTls(lab) ? undefined : 'the lab file turned TLS off'),
  inputs: (context) => readInputs(context, `${FOLDER}/ca/root.crt`, ...LEAVES.map((name) => `${FOLDER}/${name}`)),
  steps: async () => [
    run(
      ['openssl', 'verify', '-CAfile', `${FOLDER}/ca/root.crt`, ...LEAVES.map((name) => `${FOLDER}/${name}`)],
      'every certificate is good for the CA of the lab',
    ),
  ],
}
