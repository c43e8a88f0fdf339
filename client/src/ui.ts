// ui.ts - panels around the view: readout, tools, help, toasts. It only shows and reports; app.ts decides.
import type { ConnectionState } from './connection';
import type { SceneMenu } from './core_api';

function element<T extends HTMLElement>(id: string): T {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found as T;
}

export interface UiActions {
  power: (power: number) => void;
  toggleFly: () => void;
  toggleCapture: () => void;
  toggleSound: () => void;
  reset: () => void;
  scene: (number: number) => void;
  act: () => void;
  file: (file: File) => void;
}

export interface Readout {
  groups: number;
  awake: number;
  blocks: number;
  tickMs: number;
  fps: number;
  connected: boolean;
}

export class Toast {
  private bar: HTMLProgressElement | null = null;
  constructor(private box: HTMLElement, private label: HTMLElement) {}

  /** Shows a bar under the words; share 0..1. */
  progress(share: number): void {
    if (!this.bar) {
      this.bar = document.createElement('progress');
      this.bar.max = 1;
      this.box.append(this.bar);
    }
    this.bar.value = share;
  }

  say(text: string): void {
    this.label.textContent = text;
  }

  close(afterSeconds = 0): void {
    setTimeout(() => {
      this.box.style.opacity = '0';
      setTimeout(() => this.box.remove(), 300);
    }, afterSeconds * 1000);
  }
}

export class Ui {
  readonly canvas = element<HTMLCanvasElement>('view');
  private help = element<HTMLDetailsElement>('help');
  private file = element<HTMLInputElement>('file');
  private state = element('state');
  private scene = element<HTMLSelectElement>('scene');

  constructor(actions: UiActions) {
    this.help.open = window.innerWidth >= 900;
    const power = element<HTMLInputElement>('power');
    power.addEventListener('input', () => actions.power(Number(power.value)));
    const click = (id: string, action: () => void): void => {
      const button = element<HTMLButtonElement>(id);
      button.addEventListener('click', () => {
        action();
        this.canvas.focus();  // so that space moves the player and does not press the button again
      });
    };
    click('fly', actions.toggleFly);
    click('capture', actions.toggleCapture);
    click('sound', actions.toggleSound);
    click('reset', actions.reset);
    click('act', actions.act);
    this.scene.addEventListener('change', () => {
      actions.scene(Number(this.scene.value));
      this.canvas.focus();
    });
    click('open', () => this.chooseFile());
    this.file.addEventListener('change', () => {
      for (const file of this.file.files ?? []) actions.file(file);
      this.file.value = '';
    });

    // Any element takes the drop, or the browser would leave the page for the file.
    const veil = element('veil');
    const hasFiles = (event: DragEvent): boolean => event.dataTransfer?.types.includes('Files') ?? false;
    window.addEventListener('dragover', (event) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      veil.hidden = false;
    });
    window.addEventListener('dragleave', (event) => {
      if (event.relatedTarget === null) veil.hidden = true;
    });
    window.addEventListener('drop', (event) => {
      veil.hidden = true;
      if (!event.dataTransfer?.files.length) return;
      event.preventDefault();
      for (const file of event.dataTransfer.files) actions.file(file);
    });
  }

  chooseFile(): void {
    this.file.click();
  }

  toggleHelp(): void {
    this.help.open = !this.help.open;
  }

  showScenes(menu: SceneMenu): void {
    element('scenes').hidden = menu.entries.length < 2;
    this.scene.replaceChildren(...menu.entries.map(({ title }, i) => new Option(title, String(i), false, i === menu.current)));
    const action = menu.entries[menu.current]?.action ?? '';
    const button = element('act');
    button.textContent = action || 'Start';
    button.hidden = action === '';
  }

  showPower(power: number): void {
    element<HTMLInputElement>('power').value = String(power);
    element('power-value').textContent = String(power);
  }

  showFlying(flying: boolean): void {
    const button = element('fly');
    button.textContent = flying ? 'Fly' : 'Walk';
    button.setAttribute('aria-pressed', String(flying));
  }

  showCaptured(captured: boolean): void {
    document.body.classList.toggle('captured', captured);
    element('capture').setAttribute('aria-pressed', String(captured));
  }

  showSound(on: boolean): void {
    element('sound').setAttribute('aria-pressed', String(on));
  }

  showTurning(turning: boolean): void {
    this.canvas.classList.toggle('turning', turning);
  }

  showState(state: ConnectionState, retryInSeconds: number): void {
    this.state.dataset['state'] = state;
    this.state.textContent =
      state === 'open' ? 'live' : state === 'connecting' ? 'connecting' : `lost, again in ${Math.max(1, Math.round(retryInSeconds))} s`;
  }

  showReadout(readout: Readout): void {
    const set = (id: string, text: string): void => {
      const target = element(id);
      if (target.textContent !== text) target.textContent = text;
    };
    const known = readout.connected;
    set('groups', known ? String(readout.groups) : '–');
    set('awake', known ? String(readout.awake) : '–');
    set('blocks', known ? readout.blocks.toLocaleString('en') : '–');
    set('tick-ms', known ? `${readout.tickMs.toFixed(1)} ms` : '–');
    set('fps', String(Math.round(readout.fps)));
  }

  toast(text: string, kind: 'note' | 'error' = 'note', seconds = 4): Toast {
    const box = document.createElement('div');
    box.className = 'toast';
    box.dataset['kind'] = kind;
    if (kind === 'error') box.setAttribute('role', 'alert');
    const label = document.createElement('span');
    label.textContent = text;
    box.append(label);
    const toasts = element('toasts');
    toasts.append(box);
    while (toasts.children.length > 4) toasts.firstElementChild!.remove();
    const toast = new Toast(box, label);
    if (seconds > 0) toast.close(seconds);
    return toast;
  }
}
