/** The library of questions, for those who load it only when they ask one. */
export { confirm, isCancel, text } from '@clack/prompts'
