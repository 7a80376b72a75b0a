"""A policy gradient: learn to balance a pole on a cart from nothing but how long it stood.

A cart on a rail carries a pole that wants to fall; all one can do is push the cart left or right, fifty times a
second. Many carts run at once, in tensors. After each round, pushes that were followed by more steps than expected
become likelier. Whether a pole falls left or right hangs by a hair, hence double precision.

    python examples/cartpole.py [--steps 100] [--every 4] [--seed 0]

Needs nothing but Python and NumPy.
"""

import taeda as torch  # isort: skip  (with `import torch` here, the same program runs under PyTorch)

import argparse

nn = torch.nn
F = torch.nn.functional
Categorical = torch.distributions.Categorical

CARTS, LONGEST, DISCOUNT = 16, 200, 0.98


class Carts:
    """The physics of Barto, Sutton and Anderson (1983), for many carts at once."""

    def __init__(self, count):
        self.state = torch.empty(count, 4).uniform_(-0.05, 0.05)  # place, speed, angle of the pole, its angular speed

    def push(self, right):
        """One fiftieth of a second; gives which carts are still on the rail with the pole up."""
        place, speed, angle, turning = self.state.unbind(1)
        force = torch.where(right, 10.0, -10.0)
        sine, cosine = angle.sin(), angle.cos()
        pull = (force + 0.05 * turning.square() * sine) / 1.1  # cart and pole weigh 1.1 kg, the pole 0.1
        angular = (9.8 * sine - cosine * pull) / (0.5 * (4 / 3 - 0.1 * cosine.square() / 1.1))
        linear = pull - 0.05 * angular * cosine / 1.1
        change = torch.stack([speed, linear, turning, angular], dim=1)
        self.state = self.state + 0.02 * change
        return (self.state[:, 0].abs() < 2.4) & (self.state[:, 2].abs() < 0.21)


class ActorCritic(nn.Module):
    """The state in; the scores of both pushes, and how much longer the pole will stand, out."""

    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh())
        self.policy = nn.Linear(64, 2)
        self.value = nn.Linear(64, 1)
        for layer in self.modules():
            if isinstance(layer, nn.Linear):
                nn.init.orthogonal_(layer.weight, gain=0.01 if layer is self.policy else 1.0)
                nn.init.zeros_(layer.bias)

    def forward(self, state):
        features = self.body(state)
        return Categorical(logits=self.policy(features)), self.value(features).squeeze(-1)


@torch.no_grad()
def play(model):
    """One round: states, pushes, and which carts were still running then; all (time, CARTS, ...)."""
    carts, running = Carts(CARTS), torch.ones(CARTS, dtype=torch.bool)
    states, pushes, masks = [], [], []
    while running.any() and len(states) < LONGEST:
        policy, _ = model(carts.state)
        push = policy.sample()
        states.append(carts.state)
        pushes.append(push)
        masks.append(running)
        running = running & carts.push(push == 1)
    return torch.stack(states), torch.stack(pushes), torch.stack(masks)


def returns_of(masks):
    """For each step the discounted number of steps that the cart still stood from there on."""
    returns, coming = [], torch.zeros(CARTS)
    for standing in masks.double().flip(0):
        coming = standing * (1 + DISCOUNT * coming)
        returns.append(coming)
    return torch.stack(returns[::-1])


def loss_of(model, states, pushes, masks):
    """The policy's loss, the value's, and a little for keeping an open mind; only steps of running carts count."""
    returns = returns_of(masks)[masks]
    policy, value = model(states[masks])
    advantage = returns - value.detach()
    advantage = (advantage - advantage.mean()) / (advantage.std() + 1e-6)
    policy_loss = -(policy.log_prob(pushes[masks]) * advantage).mean()
    value_loss = F.smooth_l1_loss(value, returns, beta=5.0)
    return policy_loss + 0.1 * value_loss - 0.01 * policy.entropy().mean()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=100, help="rounds to play")
    parser.add_argument("--every", type=int, default=4, help="rounds from one printed loss to the next")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    torch.set_default_dtype(torch.float64)
    torch.manual_seed(options.seed)

    model = ActorCritic()
    optimizer = torch.optim.RMSprop(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.PolynomialLR(optimizer, total_iters=options.steps)
    for step in range(options.steps):
        states, pushes, masks = play(model)
        loss = loss_of(model, states, pushes, masks)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        scheduler.step()
        if step % options.every == 0:
            stood = masks.sum(0).double().mean().item()
            print(f"step {step}: loss {loss.item():.5f}, the poles stood for {stood:.2f} steps of {LONGEST}")


if __name__ == "__main__":
    main()
