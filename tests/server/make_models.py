"""Makes the models of the server tests: a few hundred kilobytes each, nothing is fetched.

    PY make_models.py FOLDER NAME...

healthy  answers the prompts of the smoke test, learnt by heart in a few seconds
nan      the same, with NaN in its last norm: no logit is a number
latenan  the same, until the word POISON stands in the prompt
repeat   one token for ever, with finite logits
mla      latent attention, which the CPU's attention cannot run: it dies on its first prompt
"""

import json
import re
import sys
from pathlib import Path

import torch
import transformers
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers

# Question and answer, then opening and continuation.
CHATS = {
    "What is the capital of France?": "The capital of France is Paris.",
    "What is 2+2?": "2+2 is 4.",
    "List the first ten prime numbers.": "2, 3, 5, 7, 11, 13, 17, 19, 23, 29",
    "Hello! How are you today?": "I am well, thank you. How are you?",
}
OPENINGS = {
    "The capital of France is": " Paris, on the Seine.",
    "1, 2, 3, 4,": " 5, 6, 7, 8, 9, 10.",
    "Once upon a time": " a small server answered every question.",
}
BANG, POISON = "!", "POISON"
UNKNOWN, END, ASK, TELL = "<unknown>", "<end>", "<ask>", "<tell>"
PIECE = r" ?\w+|."
WIDTH, VOCABULARY = 64, 256
TEMPLATE = "{% for one in messages %}{{ '<ask>' + one['content'] + '<tell>' }}{% endfor %}"


def make_tokenizer():
    """Whole words with the blank before them; `!` is token 0, as in some well-known families."""
    texts = [text for pairs in (CHATS, OPENINGS) for pair in pairs.items() for text in pair]
    words = {word: None for text in texts for word in re.findall(PIECE, text)}
    order = [BANG, *(word for word in words if word != BANG), UNKNOWN, END, ASK, TELL, POISON]
    core = Tokenizer(models.WordLevel({word: i for i, word in enumerate(order)}, UNKNOWN))
    core.pre_tokenizer = pre_tokenizers.Split(Regex(PIECE), "isolated")
    core.decoder = decoders.Fuse()
    tokenizer = transformers.PreTrainedTokenizerFast(
        tokenizer_object=core, unk_token=UNKNOWN, eos_token=END, pad_token=END
    )
    tokenizer.add_special_tokens({"additional_special_tokens": [ASK, TELL, POISON]})
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def make_dense(tokenizer):
    torch.manual_seed(7)
    end = tokenizer.eos_token_id
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=2 * WIDTH,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
        max_position_embeddings=1024, tie_word_embeddings=False,
        bos_token_id=end, eos_token_id=end, pad_token_id=end,
    )  # fmt: skip
    return transformers.LlamaForCausalLM(config).float()


def lessons(tokenizer):
    """(tokens, how many of them are given)."""
    found = []
    for question, answer in CHATS.items():
        found.append((f"{ASK}{question}{TELL}", answer))
    found += list(OPENINGS.items())
    for given, wanted in found:
        first = tokenizer(given, add_special_tokens=False).input_ids
        rest = tokenizer(wanted, add_special_tokens=False).input_ids
        yield [*first, *rest, tokenizer.eos_token_id], len(first)


def teach(model, tokenizer):
    """Learn the lessons by heart."""
    torch.set_num_threads(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    rows = [(torch.tensor([tokens]), given) for tokens, given in lessons(tokenizer)]
    for _ in range(400):
        total = 0.0
        for tokens, given in rows:
            logits = model(input_ids=tokens).logits[0, given - 1 : -1]
            loss = torch.nn.functional.cross_entropy(logits, tokens[0, given:])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if total / len(rows) < 0.005:
            return
    raise SystemExit("the model did not learn its answers")


def make_latent(tokenizer):
    torch.manual_seed(7)
    end = tokenizer.eos_token_id
    config = transformers.DeepseekV2Config(
        vocab_size=VOCABULARY, hidden_size=WIDTH, intermediate_size=2 * WIDTH,
        num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=4,
        kv_lora_rank=32, q_lora_rank=None, qk_nope_head_dim=16, qk_rope_head_dim=8, v_head_dim=16,
        n_routed_experts=4, n_shared_experts=1, num_experts_per_tok=2, moe_intermediate_size=32,
        first_k_dense_replace=1, moe_layer_freq=1, scoring_func="softmax",
        routed_scaling_factor=1.0, norm_topk_prob=False, n_group=1, topk_group=1,
        topk_method="greedy",
        max_position_embeddings=1024, bos_token_id=end, eos_token_id=end, pad_token_id=end,
        rope_parameters={"rope_type": "yarn", "rope_theta": 1e4, "factor": 1.0,
                         "mscale": 1.0, "mscale_all_dim": 1.0, "beta_fast": 32, "beta_slow": 1,
                         "original_max_position_embeddings": 1024},
    )  # fmt: skip
    return transformers.AutoModelForCausalLM.from_config(config).float()


def spoil(name, model, tokenizer):
    with torch.no_grad():
        if name == "nan":
            model.model.norm.weight.fill_(float("nan"))
        elif name == "latenan":
            poison = tokenizer.convert_tokens_to_ids(POISON)
            model.model.embed_tokens.weight[poison] = float("nan")
        elif name == "repeat":
            for layer in model.model.layers:
                layer.self_attn.o_proj.weight.zero_()
                layer.mlp.down_proj.weight.zero_()
            model.model.embed_tokens.weight.fill_(0.5)
            model.lm_head.weight.zero_()
            model.lm_head.weight[tokenizer.convert_tokens_to_ids(BANG)] = 0.5


def save(folder, model, tokenizer):
    model.bfloat16().save_pretrained(folder)
    model.float()
    tokenizer.save_pretrained(folder)
    path = folder / "config.json"
    config = json.loads(path.read_text())
    # Older readers know the first of these names, newer ones the second.
    config["torch_dtype"] = config["dtype"] = "bfloat16"
    scaling = config.get("rope_parameters")
    if isinstance(scaling, dict) and scaling.get("rope_type") not in (None, "default"):
        # The older name of the same, in the older form.
        config["rope_scaling"] = {**scaling, "type": scaling["rope_type"]}
        config["rope_theta"] = scaling["rope_theta"]
    path.write_text(json.dumps(config))
    # Newer releases name a class here that older ones do not know.
    path = folder / "tokenizer_config.json"
    settings = json.loads(path.read_text())
    settings["tokenizer_class"] = "PreTrainedTokenizerFast"
    settings["chat_template"] = TEMPLATE
    path.write_text(json.dumps(settings))


def main(words):
    folder = Path(words[0])
    tokenizer = make_tokenizer()
    taught = make_dense(tokenizer)
    teach(taught, tokenizer)
    weights = {name: value.clone() for name, value in taught.state_dict().items()}
    for name in words[1:]:
        model = make_latent(tokenizer) if name == "mla" else taught
        if name != "mla":
            model.load_state_dict(weights)
        spoil(name, model, tokenizer)
        save(folder / name, model, tokenizer)
        print(name)


if __name__ == "__main__":
    main(sys.argv[1:])
