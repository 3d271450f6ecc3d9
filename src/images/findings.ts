/** SL415x: images of the site, and whether a mirror has them. */
import { problem } from '../errors/finding.ts'

export const invalidImage = problem<{ image: string; usedBy: string }>({
  code: 'SL4150',
  severity: 'warning',
  message: ({ image, usedBy }) => `${image} of ${usedBy} is not the name of an image`,
  remedy: () => 'correct it where it is set: a custom image of the OpenStackVersion, or a catalog of the site file',
})

export const imageMissing = problem<{ image: string; mirrored: string; usedBy: string }>({
  code: 'SL4151',
  severity: 'error',
  message: ({ image, mirrored, usedBy }) => `the mirror has no ${mirrored}, which ${usedBy} needs (${image})`,
  remedy: () => 'mirror it: `stackloom images image-set` prints the configuration for oc-mirror',
})

export const registryNoAnswer = problem<{ image: string; reason: string }>({
  code: 'SL4152',
  severity: 'warning',
  message: ({ image, reason }) => `the registry does not say whether it has ${image}: ${reason}`,
  remedy: () => 'check its address, --certificate-authority and --authfile, then run the same command again',
})

export const noImages = problem<object>({
  code: 'SL4153',
  severity: 'error',
  message: () => 'neither the cluster nor the site file names an image',
  remedy: () =>
    'connect to a cluster that has the operators, or read its dumps (--from); before the first deployment, mirror the packages of Red Hat: `stackloom images image-set --offline --openshift 4.18`',
})

export const invalidMirror = problem<{ mirror: string }>({
  code: 'SL4154',
  severity: 'error',
  message: ({ mirror }) => `${mirror} is not the address of a registry`,
  remedy: () => 'write host, host:port or host/path, such as registry.example.com:5000/mirror',
})
