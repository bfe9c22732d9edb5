insert into discontinued_product (name) values ('Paraffin lamp "Old Faithful"');
insert into discontinued_product (name) values ('Cork floats, hand-cut');
insert into discontinued_product (name) values ('Seehundfell-Mütze');
