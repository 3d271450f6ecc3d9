/** `deployer` and `images`: what runs on this machine before any VM is needed. */
import path from 'node:path'
import { imageTag } from '../../kolla/image-tag.ts'
import { buildsImages } from '../../lab.ts'
import type { LabStage } from '../stage.ts'
import { run } from '../step.ts'

/** Newest of the 2025.2 series, with the Ansible that it was made for. */
export const deployerPackages = ['kolla-ansible==21.3.0', 'ansible>=12,<13', 'python-openstackclient'] as const

export const deployerStage: LabStage = {
  name: 'deployer',
  after: [{ stage: 'host', why: 'it needs Python' }],
  inputs: ({ tools }) => [...deployerPackages, tools.venv],
  steps: async ({ tools }) => [
    run(['python3', '-m', 'venv', tools.venv], 'a virtual environment'),
    run([path.join(tools.venv, 'bin/pip'), 'install', '-q', ...deployerPackages], deployerPackages.join(', ')),
    run([path.join(tools.venv, 'bin/kolla-ansible'), 'install-deps'], "Kolla-Ansible's collections"),
  ],
}

export const imagesStage: LabStage = {
  name: 'images',
  after: [{ stage: 'deployer', why: 'kolla-build is installed beside kolla-ansible' }],
  skipReason: (lab) => (buildsImages(lab) ? undefined : 'upstream publishes these images'),
  inputs: ({ lab }) => [JSON.stringify(lab.containers), lab.release, lab.arch],
  steps: async ({ lab, tools }) => {
    const { build, base, registry = '' } = lab.containers
    const port = registry.split(':').at(-1) ?? '4000'
    const names = build === 'all' || build === undefined ? [] : build
    return [
      run([path.join(tools.venv, 'bin/pip'), 'install', '-q', 'kolla==21.*', 'docker'], 'kolla-build'),
      run(
        [
          'sh',
          '-c',
          `docker start stackloom-registry || docker run -d --restart always --name stackloom-registry -p ${port}:5000 registry:2`,
        ],
        `a registry at ${registry}`,
      ),
      run(
        [
          path.join(tools.venv, 'bin/kolla-build'),
          '--base',
          base,
          '--base-arch',
          lab.arch,
          '--openstack-release',
          lab.release,
          '--tag',
          imageTag(lab),
          '--registry',
          `localhost:${port}`,
          '--namespace',
          'openstack.kolla',
          '--push',
          '--skip-existing',
          ...names.map((name) => `^${name}$`),
        ],
        names.length > 0 ? `images ${names.join(', ')}` : 'all images, which takes hours',
      ),
    ]
  },
}
