/** Renders the README of the tree: nodes, networks, addresses, stages, and what has no TLS. */
import { sumResources } from './check/budget.ts'
import { stageNames } from './drive/stage.ts'
import { imageTag, tlsGaps } from './kolla/release.ts'
import { externalFqdn, internalFqdn, type Lab, nameserverAddress, usesTls } from './lab.ts'
import type { TreeFile } from './tree.ts'

export function readmeFile(lab: Lab): TreeFile {
  const totals = sumResources(lab)
  const nodes = lab.nodes.map((node) => {
    const disks = node.disks.map((disk) => `${disk.use} ${disk.size} GiB (${disk.device})`).join(', ')
    return `| ${node.name} | ${node.roles.join(', ')} | ${node.memory} GiB | ${node.cpus} | ${node.disk} GiB | ${disks || '-'} | ${node.address} |`
  })
  const networks = Object.values(lab.networks).map((network) => {
    const attached = lab.nodes.filter((node) => node.nics.some((nic) => nic.network === network.name))
    return `| ${network.name} | ${network.mode} | ${network.subnet} | ${network.interface} | ${attached.map((node) => node.name).join(', ')} |`
  })
  const gaps = tlsGaps(lab).map(({ what, where }) => `- ${what} (${where})`)
  const text = `# The lab ${lab.name}

Rendered by \`stackloom lab render\`. Change the lab file, not these files.

| node | roles | RAM | vCPU | OS disk | data disks | address |
|---|---|---|---|---|---|---|
${nodes.join('\n')}

Together: ${totals.memory} GiB RAM, ${totals.cpus} vCPU, ${totals.osDisk} GiB OS disks, ${totals.lvmDisk} GiB LVM, ${totals.osdDisk} GiB Ceph OSD.

| network | mode | subnet | interface | nodes |
|---|---|---|---|---|
${networks.join('\n')}

- Internal API: https://${internalFqdn(lab)} (${lab.vips.internal}); public API and Horizon: https://${externalFqdn(lab)} (${lab.vips.external})
- DNS: ${nameserverAddress(lab)} answers for ${lab.dns.domain}; on macOS run \`scripts/resolver.sh\` once
- Container images: ${imageTag(lab)}

## Stages

\`stackloom lab up\` runs ${stageNames.map((name) => `\`${name}\``).join(', ')}; \`--dry-run\` prints the commands.

## Secrets

\`kolla/passwords.yml\`, \`kolla/certificates/\`, \`ssh/id_ed25519\` and Ceph's keyrings were made here, are kept by every
further rendering, have the mode 0600 and are in .gitignore.

${usesTls(lab) ? `## What TLS does not reach\n\n${gaps.join('\n')}\n` : ''}`
  return { path: 'README.md', text }
}
